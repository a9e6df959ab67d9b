/* Kernels with their queue as an argument: 0, or one of t3_queue_create. These calls mean what those of t3/t3.h without
 * a queue mean while that queue is in use (t3_use_queue), and leave the queue in use as it is. All return
 * T3_INVALID_ARGUMENT for a queue that is not open.
 *
 * New programs use these. The calls of t3/t3.h that go to the queue in use stay for those that there are. */
#ifndef T3_LAUNCH_H
#define T3_LAUNCH_H

#include "t3/t3.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The queue that calls without one go to. */
uint32_t t3_queue_in_use(const struct t3_context* context);

enum t3_status t3_launch_kernel(struct t3_context* context, uint32_t queue, const char* kernel, const void* arguments,
                                uint32_t bytes, struct t3_kernel_options options);
enum t3_status t3_launch_gemm(struct t3_context* context, uint32_t queue, const struct t3_output* output,
                              const struct t3_matrix* a, const struct t3_matrix* b, struct t3_gemm_options options);
enum t3_status t3_launch_rows(struct t3_context* context, uint32_t queue, enum t3_row_operation operation,
                              const struct t3_matrix* out, const struct t3_matrix* a, const struct t3_matrix* b,
                              const struct t3_matrix* c, struct t3_row_options options);
enum t3_status t3_launch_attention(struct t3_context* context, uint32_t queue, enum t3_attention_pass pass,
                                   const struct t3_output* output, const struct t3_attention_operands* operands);
enum t3_status t3_launch_ring_reduce_scatter(struct t3_context* context, uint32_t queue, const struct t3_output* output,
                                             const struct t3_matrix* staging);
enum t3_status t3_launch_node_reduce_scatter(struct t3_context* context, uint32_t queue, const struct t3_output* output,
                                             const struct t3_matrix* staging, uint32_t gpus_per_node);
enum t3_status t3_launch_ring_all_gather(struct t3_context* context, uint32_t queue, const struct t3_output* output);

/* t3_wait_kernels, t3_last_kernel, t3_wait_kernel and t3_abort_kernels of one queue. t3_last_launch of a queue that is
 * not open is 0. */
enum t3_status t3_wait_queue(struct t3_context* context, uint32_t queue);
uint64_t t3_last_launch(const struct t3_context* context, uint32_t queue);
enum t3_status t3_wait_launch(struct t3_context* context, uint32_t queue, uint64_t number);
enum t3_status t3_abort_queue(struct t3_context* context, uint32_t queue);

#ifdef __cplusplus
}
#endif

#endif
