#include "t3/launch.h"

#include "context_state.h"

/* The status of a call while the queue is in use. Its failures take this call's name. A handler that comes in between
 * has a queue and calls of its own. */
#define ON_QUEUE(context, number, inner)                   \
  do {                                                     \
    if (!t3_is_open(context)) return T3_INVALID_ARGUMENT;  \
    const uint32_t before = state_of(context)->queue;      \
    state_of(context)->call = __func__;                    \
    enum t3_status status = t3_use_queue(context, number); \
    if (status == T3_OK) status = (inner);                 \
    if (t3_is_open(context)) {                             \
      state_of(context)->queue = before;                   \
      state_of(context)->call = NULL;                      \
    }                                                      \
    return status;                                         \
  } while (0)

uint32_t t3_queue_in_use(const struct t3_context* context) {
  return t3_is_open(context) ? const_state_of(context)->queue : 0;
}

enum t3_status t3_launch_kernel(struct t3_context* context, uint32_t queue, const char* kernel, const void* arguments,
                                uint32_t bytes, struct t3_kernel_options options) {
  ON_QUEUE(context, queue, t3_run_kernel(context, kernel, arguments, bytes, options));
}

enum t3_status t3_launch_gemm(struct t3_context* context, uint32_t queue, const struct t3_output* output,
                              const struct t3_matrix* a, const struct t3_matrix* b, struct t3_gemm_options options) {
  ON_QUEUE(context, queue, t3_gemm(context, output, a, b, options));
}

enum t3_status t3_launch_rows(struct t3_context* context, uint32_t queue, enum t3_row_operation operation,
                              const struct t3_matrix* out, const struct t3_matrix* a, const struct t3_matrix* b,
                              const struct t3_matrix* c, struct t3_row_options options) {
  ON_QUEUE(context, queue, t3_rows(context, operation, out, a, b, c, options));
}

enum t3_status t3_launch_attention(struct t3_context* context, uint32_t queue, enum t3_attention_pass pass,
                                   const struct t3_output* output, const struct t3_attention_operands* operands) {
  ON_QUEUE(context, queue, t3_attention(context, pass, output, operands));
}

enum t3_status t3_launch_ring_reduce_scatter(struct t3_context* context, uint32_t queue, const struct t3_output* output,
                                             const struct t3_matrix* staging) {
  ON_QUEUE(context, queue, t3_ring_reduce_scatter(context, output, staging));
}

enum t3_status t3_launch_node_reduce_scatter(struct t3_context* context, uint32_t queue, const struct t3_output* output,
                                             const struct t3_matrix* staging, uint32_t gpus_per_node) {
  ON_QUEUE(context, queue, t3_node_reduce_scatter(context, output, staging, gpus_per_node));
}

enum t3_status t3_launch_ring_all_gather(struct t3_context* context, uint32_t queue, const struct t3_output* output) {
  ON_QUEUE(context, queue, t3_ring_all_gather(context, output));
}

enum t3_status t3_wait_queue(struct t3_context* context, uint32_t queue) {
  ON_QUEUE(context, queue, t3_wait_kernels(context));
}

uint64_t t3_last_launch(const struct t3_context* context, uint32_t queue) {
  if (!t3_is_open(context) || queue >= T3_QUEUES || !const_state_of(context)->queues[queue].is_open) return 0;
  const struct t3_queue_state* of_queue = &const_state_of(context)->queues[queue];
  return of_queue->submitted != of_queue->first_kernel ? of_queue->submitted : 0;
}

enum t3_status t3_wait_launch(struct t3_context* context, uint32_t queue, uint64_t number) {
  ON_QUEUE(context, queue, t3_wait_kernel(context, number));
}

enum t3_status t3_abort_queue(struct t3_context* context, uint32_t queue) {
  ON_QUEUE(context, queue, t3_abort_kernels(context));
}
