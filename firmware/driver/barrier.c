#include "context_state.h"
#include "registers.h"
#include "t3/registers/signals.h"
#include "wait.h"

enum { MOST_EXCHANGED = 1 << 20 };

static uint32_t counter(uint32_t offset, uint32_t stride, uint32_t index) { return offset + index * stride; }

/* A GPU that has been reset in between is not counted: its signals do not come any more. */
static enum t3_status in_vain(struct t3_registers* signals, enum t3_status slept) {
  const bool is_reset = t3_get32(signals, T3_SIGNALS_RESET_PEER_OFFSET) != 0;
  return signals->status == T3_OK && is_reset ? T3_PEER_FAILED : slept;
}

static enum t3_status wait_signal(struct t3_context* context, uint32_t index, uint64_t value, uint64_t deadline,
                                  const char* reason) {
  struct t3_registers signals = t3_own_block(context, T3_BLOCK_SIGNALS);
  t3_put32(&signals, T3_SIGNALS_WATCH_OFFSET, index << T3_SIGNALS_WATCH_INDEX_SHIFT);
  for (;;) {
    t3_clear(context, &signals, T3_LINE_SIGNALS, T3_SIGNALS_INTERRUPT_OFFSET, T3_SIGNALS_INTERRUPT_CHANGED_MASK);
    const uint64_t current = t3_get64(&signals, counter(T3_SIGNALS_VALUE_OFFSET, T3_SIGNALS_VALUE_STRIDE, index));
    T3_TRY(signals.status);
    if (current >= value) return T3_OK;
    const enum t3_status slept = t3_sleep(context, T3_LINE_SIGNALS, deadline, reason);
    if (slept != T3_OK) return in_vain(&signals, slept);
  }
}

/* The counter is there on every GPU, so that nothing answers only where no link leads. */
static enum t3_status add_signal(struct t3_context* context, uint32_t gpu, uint32_t index) {
  const struct t3_state* state = const_state_of(context);
  state->hal->order_writes(state->hal->platform);
  struct t3_registers signals = t3_block_on(state->hal, gpu, T3_BLOCK_SIGNALS);
  t3_put64(&signals, counter(T3_SIGNALS_ADD_OFFSET, T3_SIGNALS_ADD_STRIDE, index), 1);
  if (signals.status != T3_BAD_ADDRESS) return signals.status;
  return t3_outcome(context, T3_NO_PEER, "no link leads to the previous GPU");
}

/* In each round a GPU signals the previous GPU and waits for the signal of the next one. Previous and next go by the
 * GPUs' numbers, whatever links the signals take. After r rounds a GPU knows that r others have arrived, so gpus - 1
 * rounds are enough. */
static enum t3_status meet(struct t3_context* context) {
  struct t3_state* state = state_of(context);
  const uint64_t deadline = t3_deadline(context);
  for (; state->barrier_round + 1 < state->gpus; ++state->barrier_round) {
    if (!state->barrier_told) T3_TRY(add_signal(context, t3_ring_previous(context), T3_SIGNAL_BARRIER));
    state->barrier_told = true;
    T3_TRY(wait_signal(context, T3_SIGNAL_BARRIER, state->barrier_rounds + 1, deadline, "the next GPU in a barrier"));
    state->barrier_told = false;
    ++state->barrier_rounds;
  }
  state->barrier_round = 0;
  return T3_OK;
}

static enum t3_status barrier(struct t3_context* context) {
  struct t3_state* state = state_of(context);
  if (state->in_barrier) return T3_BUSY;
  state->in_barrier = true;
  const enum t3_status status = meet(context);
  state->in_barrier = false;
  return status;
}

enum t3_status t3_barrier(struct t3_context* context) { return T3_LOCKED(context, barrier(context)); }

static enum t3_status exchange(struct t3_context* context, const char* name, const void* mine, uint64_t bytes,
                               void* all) {
  struct t3_state* state = state_of(context);
  if (name == NULL) return t3_at_fault(context, "name", "a text");
  if (bytes > MOST_EXCHANGED) return t3_at_fault(context, "bytes", "at most 1 MiB");
  if (bytes != 0 && mine == NULL) return t3_at_fault(context, "mine", "the bytes of this GPU");
  if (bytes != 0 && all == NULL) return t3_at_fault(context, "all", "a place for the bytes of all GPUs");
  return state->hal->exchange(state->hal->platform, name, mine, bytes, all, t3_deadline(context));
}

enum t3_status t3_host_all_gather(struct t3_context* context, const char* name, const void* mine, uint64_t bytes,
                                  void* all) {
  return T3_LOCKED(context, exchange(context, name, mine, bytes, all));
}

enum t3_status t3_host_barrier(struct t3_context* context) {
  return T3_LOCKED(context, exchange(context, "barrier", NULL, 0, NULL));
}
