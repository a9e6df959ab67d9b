#include "t3/streams.h"
#include "completions.h"
#include "context_state.h"
#include "maps.h"
#include "packets.h"
#include "queues.h"
#include "wait.h"

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
