#include "context_state.h"
#include "packets.h"
#include "queues.h"
#include "t3/arguments/copy.h"
#include "t3/launch.h"
#include "t3/streams.h"
#include "wait.h"

enum { ALIGNMENT = 32, WORD_BYTES = 4 };

/* GPUs have memories of one size. */
static enum t3_status check_range(struct t3_context* context, const char* name, uint64_t address, uint64_t bytes) {
  const struct t3_state* state = const_state_of(context);
  const uint64_t memory_bytes = state->memory_bytes;
  if (address % ALIGNMENT != 0) return t3_at_fault_as(context, T3_UNALIGNED, name, "a multiple of 32");
  if (bytes % WORD_BYTES != 0) return t3_at_fault_as(context, T3_UNALIGNED, "bytes", "a multiple of 4");
  if (t3_gpu_of(address) >= state->gpus) return t3_at_fault_as(context, T3_NO_PEER, name, "an address of the node");
  if (bytes > memory_bytes || (address & T3_LOCAL_MASK) > memory_bytes - bytes)
    return t3_at_fault_as(context, T3_BAD_ADDRESS, name, "bytes within the GPU's memory");
  return T3_OK;
}

static enum t3_status check_copy(struct t3_context* context, uint64_t to, uint64_t from, uint64_t bytes) {
  const uint64_t gpu = const_state_of(context)->gpu;
  T3_TRY(check_range(context, "to", to, bytes));
  T3_TRY(check_range(context, "from", from, bytes));
  if (t3_gpu_of(to) != gpu && t3_gpu_of(from) != gpu)
    return t3_at_fault(context, "to", "an address of this GPU, or from one of it");
  return to < from + bytes && from < to + bytes
             ? t3_at_fault_as(context, T3_OVERLAP, "to", "bytes that are not copied from")
             : T3_OK;
}

static enum t3_status check_fill(struct t3_context* context, uint64_t to, uint64_t bytes) {
  T3_TRY(check_range(context, "to", to, bytes));
  return t3_gpu_of(to) == const_state_of(context)->gpu ? T3_OK : t3_at_fault(context, "to", "an address of this GPU");
}

/* The copy releases at its end, whatever other kernels of the queue do. */
static enum t3_status launch(struct t3_context* context, uint32_t queue, const struct t3_copy_arguments* arguments) {
  struct t3_submission submission = t3_submission_of("copy", T3_COPY_ARGUMENTS_BYTES);
  submission.packet.flags |= T3_KERNEL_PACKET_FLAGS_RELEASE;
  t3_copy_arguments_to(arguments, submission.arguments);
  return t3_submit_to(context, queue, &submission);
}

static enum t3_status check_common(struct t3_context* context, uint32_t queue, uint64_t bytes) {
  if (!t3_is_queue(context, queue)) return t3_at_fault(context, "queue", "an open queue");
  return bytes != 0 ? T3_OK : t3_at_fault(context, "bytes", "1 or more");
}

static enum t3_status copy(struct t3_context* context, uint32_t queue, uint64_t to, uint64_t from, uint64_t bytes) {
  T3_TRY(check_common(context, queue, bytes));
  T3_TRY(check_copy(context, to, from, bytes));
  const struct t3_copy_arguments arguments = {
      .to = to, .from = from, .bytes = bytes, .gpu = const_state_of(context)->gpu};
  return launch(context, queue, &arguments);
}

static enum t3_status fill(struct t3_context* context, uint32_t queue, uint64_t to, uint32_t word, uint64_t bytes) {
  T3_TRY(check_common(context, queue, bytes));
  T3_TRY(check_fill(context, to, bytes));
  const struct t3_copy_arguments arguments = {.to = to,
                                              .bytes = bytes,
                                              .pattern = word,
                                              .gpu = const_state_of(context)->gpu,
                                              .operation = T3_COPY_ARGUMENTS_OPERATION_FILL};
  return launch(context, queue, &arguments);
}

enum t3_status t3_copy_async(struct t3_context* context, uint32_t queue, uint64_t to, uint64_t from, uint64_t bytes) {
  return T3_LOCKED(context, copy(context, queue, to, from, bytes));
}

enum t3_status t3_fill_async(struct t3_context* context, uint32_t queue, uint64_t to, uint32_t word, uint64_t bytes) {
  return T3_LOCKED(context, fill(context, queue, to, word, bytes));
}

/* The status of the kernel that has just been submitted to the queue, when it has ended. */
static enum t3_status finished(struct t3_context* context, uint32_t queue, enum t3_status submitted) {
  return submitted != T3_OK ? submitted
                            : t3_wait_for_kernel(context, queue, state_of(context)->queues[queue].submitted);
}

enum t3_status t3_copy(struct t3_context* context, uint32_t queue, uint64_t to, uint64_t from, uint64_t bytes) {
  return T3_LOCKED(context, finished(context, queue, copy(context, queue, to, from, bytes)));
}

enum t3_status t3_fill(struct t3_context* context, uint32_t queue, uint64_t to, uint32_t word, uint64_t bytes) {
  return T3_LOCKED(context, finished(context, queue, fill(context, queue, to, word, bytes)));
}
