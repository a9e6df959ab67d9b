#include "t3/streams.h"
#include "completions.h"
#include "context_state.h"
#include "maps.h"
#include "packets.h"
#include "queues.h"
#include "wait.h"

enum t3_status t3_queue_create(struct t3_context* context, struct t3_queue_options options, uint32_t* queue) {
  return t3_open_queue(context, options, queue);
}

/* A handler is still to be called for kernels that have ended. */
static bool is_to_be_told(const struct t3_context* context, uint32_t queue) {
  const struct t3_state* state = const_state_of(context);
  return state->vectors[T3_LINE_KERNEL_QUEUE].handler != NULL &&
         state->queues[queue].told < state->queues[queue].submitted;
}

static enum t3_status destroy(struct t3_context* context, uint32_t queue) {
  struct t3_state* state = state_of(context);
  const struct t3_queue_options none = {0};
  uint64_t completed = 0;
  if (queue == 0 || !t3_is_queue(context, queue)) return t3_at_fault(context, "queue", "an open queue other than 0");
  T3_TRY(t3_look_at_kernels(context, queue, &completed));
  if (completed < state->queues[queue].submitted || state->queue == queue || is_to_be_told(context, queue))
    return T3_BUSY;
  T3_TRY(t3_put_queue_options(context, queue, &none));
  state->queues[queue].is_open = false;
  return T3_OK;
}

enum t3_status t3_queue_destroy(struct t3_context* context, uint32_t queue) {
  return T3_LOCKED(context, destroy(context, queue));
}

static enum t3_status set_release(struct t3_context* context, uint32_t queue, bool release) {
  if (!t3_is_queue(context, queue)) return t3_at_fault(context, "queue", "an open queue");
  state_of(context)->queues[queue].releases = release;
  return T3_OK;
}

enum t3_status t3_queue_set_release(struct t3_context* context, uint32_t queue, bool release) {
  return T3_LOCKED(context, set_release(context, queue, release));
}

/* A failure does not keep the call from waiting for the other queues. */
static enum t3_status synchronize(struct t3_context* context, uint64_t deadline_ns) {
  struct t3_state* state = state_of(context);
  enum t3_status first = T3_OK;
  for (uint32_t queue = 0; queue < T3_QUEUES; ++queue) {
    if (!state->queues[queue].is_open) continue;
    const uint32_t before = state->queue;
    state->queue = queue;
    const enum t3_status status = t3_wait_kernels_until(context, deadline_ns);
    state->queue = before;
    if (status == T3_TIMEOUT || status == T3_STUCK || status == T3_STALE) return status;
    if (first == T3_OK) first = status;
  }
  struct t3_registers dma = t3_own_block(context, T3_BLOCK_DMA);
  T3_TRY(t3_wait_idle_dma(context, &dma, deadline_ns));
  return first;
}

enum t3_status t3_synchronize(struct t3_context* context, uint64_t deadline_ns) {
  return T3_LOCKED(context, synchronize(context, deadline_ns));
}
