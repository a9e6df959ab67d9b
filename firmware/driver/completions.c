#include "completions.h"
#include "context_state.h"

#include "registers.h"
#include "t3/registers/kernel_queue.h"

enum { COMPLETIONS_KEPT = T3_KERNEL_QUEUE_COMPLETION_COUNT / T3_QUEUES };

/* Returns the index of the queue's kernel in the registers that keep the results. */
static uint32_t completion_index(uint32_t queue, uint64_t number) {
  return queue * COMPLETIONS_KEPT + (uint32_t)(number % COMPLETIONS_KEPT);
}

enum t3_status t3_code_of_kernel(const struct t3_context* context, uint32_t queue, uint64_t number) {
  struct t3_registers r = t3_own_block(context, T3_BLOCK_KERNEL_QUEUE);
  const uint32_t index = completion_index(queue, number);
  const uint32_t completion =
      t3_get32(&r, T3_KERNEL_QUEUE_COMPLETION_OFFSET + index * T3_KERNEL_QUEUE_COMPLETION_STRIDE);
  T3_TRY(r.status);
  const bool is_stale = (completion ^ (uint32_t)number << T3_KERNEL_QUEUE_COMPLETION_PACKET_SHIFT) &
                        T3_KERNEL_QUEUE_COMPLETION_PACKET_MASK;
  if (is_stale) return T3_INVALID_ARGUMENT;
  return (enum t3_status)((completion & T3_KERNEL_QUEUE_COMPLETION_CODE_MASK) >> T3_KERNEL_QUEUE_COMPLETION_CODE_SHIFT);
}

/* The kernel has ended, and has not begun before. */
static bool was_refused(const struct t3_context* context, uint32_t queue, uint64_t number) {
  struct t3_registers r = t3_own_block(context, T3_BLOCK_KERNEL_QUEUE);
  const uint32_t index = completion_index(queue, number);
  const uint32_t word = t3_get32(&r, T3_KERNEL_QUEUE_REFUSED_OFFSET + index / 32 * T3_KERNEL_QUEUE_REFUSED_STRIDE);
  return r.status == T3_OK && (word >> index % 32 & 1) != 0;
}

/* Packets that have not ended are unknown to t3_code_of_kernel(). */
static bool has_failed(enum t3_status code) { return code != T3_OK && code != T3_INVALID_ARGUMENT; }

/* Records the outcome of the ring kernel in flight, if it has ended. A refused one has sent nothing and waited for
 * nothing, so it counts as never queued. The progress of an aborted one and of its neighbours is not known. */
static void note_ring(struct t3_context* context) {
  struct t3_state* state = state_of(context);
  if (state->last_ring == 0) return;
  const enum t3_status code = t3_code_of_kernel(context, state->ring_queue, state->last_ring);
  if (code == T3_ABORTED) state->ring_broken = true;
  if (!has_failed(code) || !was_refused(context, state->ring_queue, state->last_ring)) return;
  state->ring_epoch -= state->gpus - 1;
  state->ring_refused = true;
  state->last_ring = 0;
}

/* Keeps the first failure for t3_wait_kernels, each that waits for its kernel and the next of program and handlers. */
static void keep_failure(struct t3_context* context, uint32_t queue, enum t3_status code, uint64_t number) {
  struct t3_state* state = state_of(context);
  for (struct t3_kernel_wait* wait = state->kernel_waits; wait != NULL; wait = wait->outer)
    if (wait->failure == T3_OK && wait->queue == queue && number <= wait->last) wait->failure = code;
  struct t3_kernel_failure* failures = state->queues[queue].failures;
  for (uint32_t i = 0; i < 2; ++i)
    if (failures[i].code == T3_OK) failures[i] = (struct t3_kernel_failure){code, number};
}

/* Finds failures that the queue's error bit does not show: another failure has set it, or other software has cleared
 * it. */
static void find_failures(struct t3_context* context, uint32_t queue, uint64_t completed) {
  struct t3_state* state = state_of(context);
  const uint64_t kept = COMPLETIONS_KEPT, looked_at = state->queues[queue].looked_at;
  const uint64_t oldest = completed < kept ? 0 : completed - kept;
  if (queue == state->ring_queue) note_ring(context);
  for (uint64_t n = looked_at > oldest ? looked_at : oldest; n < completed; ++n) {
    const enum t3_status code = t3_code_of_kernel(context, queue, n + 1);
    if (code != T3_OK) keep_failure(context, queue, code, n + 1);
  }
}

/* Lets the hardware look for another failure. */
static void take_failure(struct t3_context* context, uint32_t queue, struct t3_registers* r) {
  const uint32_t status = t3_get32(r, T3_OF_QUEUE(STATUS, queue));
  const uint64_t number = t3_get64(r, T3_OF_QUEUE(FAILED_PACKET, queue));
  t3_put32(r, T3_OF_QUEUE(INTERRUPT, queue), T3_KERNEL_QUEUE_INTERRUPT_ERROR_MASK);
  if (queue == state_of(context)->ring_queue) note_ring(context);
  const enum t3_status code =
      (enum t3_status)((status & T3_KERNEL_QUEUE_STATUS_ERROR_MASK) >> T3_KERNEL_QUEUE_STATUS_ERROR_SHIFT);
  keep_failure(context, queue, code, number);
}

enum t3_status t3_look_at_kernels(struct t3_context* context, uint32_t queue, uint64_t* completed) {
  struct t3_state* state = state_of(context);
  struct t3_queue_state* of_queue = &state->queues[queue];
  struct t3_registers r = t3_own_block(context, T3_BLOCK_KERNEL_QUEUE);
  t3_put32(&r, T3_OF_QUEUE(INTERRUPT, queue), T3_KERNEL_QUEUE_INTERRUPT_COMPLETE_MASK);
  *completed = t3_get64(&r, T3_OF_QUEUE(COMPLETED, queue));
  const uint32_t interrupt = t3_get32(&r, T3_OF_QUEUE(INTERRUPT, queue));
  T3_TRY(r.status);
  const uint32_t error = interrupt & T3_KERNEL_QUEUE_INTERRUPT_ERROR_MASK ? 1 : 0;
  const uint32_t failures = t3_failures_in(interrupt);
  if (failures != of_queue->known_failures + error) find_failures(context, queue, *completed);
  if (error != 0) take_failure(context, queue, &r);
  of_queue->known_failures = failures;
  of_queue->looked_at = *completed;
  if (queue == state->ring_queue && *completed >= state->last_ring) state->last_ring = 0;
  if (state->vectors[T3_LINE_KERNEL_QUEUE].handler != NULL && *completed > of_queue->told)
    state->raised_lines |= UINT32_C(1) << T3_LINE_KERNEL_QUEUE;
  return r.status;
}

enum t3_status t3_all_kernels_ended(struct t3_context* context) {
  for (uint32_t queue = 0; queue < T3_QUEUES; ++queue) {
    const struct t3_queue_state* state = &state_of(context)->queues[queue];
    uint64_t completed = state->looked_at;
    if (!state->is_open || completed == state->submitted) continue;
    T3_TRY(t3_look_at_kernels(context, queue, &completed));
    if (completed < state->submitted) return T3_BUSY;
  }
  return T3_OK;
}

/* A queue's last kernel may begin or end between two looks; those behind one that runs have not begun. */
static enum t3_status all_begun(struct t3_context* context, uint32_t queue) {
  const struct t3_queue_state* state = &state_of(context)->queues[queue];
  struct t3_registers r = t3_own_block(context, T3_BLOCK_KERNEL_QUEUE);
  uint64_t completed = state->looked_at;
  if (completed != state->submitted) T3_TRY(t3_look_at_kernels(context, queue, &completed));
  if (completed == state->submitted) return T3_OK;
  if (completed + 1 < state->submitted) return T3_BUSY;
  const uint32_t status = t3_get32(&r, T3_OF_QUEUE(STATUS, queue));
  T3_TRY(r.status);
  if (status & T3_KERNEL_QUEUE_STATUS_RUNNING_MASK) return T3_OK;
  T3_TRY(t3_look_at_kernels(context, queue, &completed));
  return completed == state->submitted ? T3_OK : T3_BUSY;
}

enum t3_status t3_all_kernels_begun(struct t3_context* context) {
  for (uint32_t queue = 0; queue < T3_QUEUES; ++queue)
    if (state_of(context)->queues[queue].is_open) T3_TRY(all_begun(context, queue));
  return T3_OK;
}
