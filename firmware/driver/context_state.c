#include "context_state.h"
#include "registers.h"
#include "t3/registers/system.h"

bool t3_is_stale(struct t3_context* context) {
  struct t3_state* state = state_of(context);
  if (state->stale) return true;
  struct t3_registers r = t3_own_block(context, T3_BLOCK_SYSTEM);
  const uint64_t owner = t3_get64(&r, t3_scratch(T3_SCRATCH_OWNER));
  state->stale = r.status == T3_OK && owner != state->owner;
  return state->stale;
}

uint32_t t3_ring_previous(const struct t3_context* context) {
  const struct t3_state* state = const_state_of(context);
  if (!t3_is_open(context)) return 0;
  return (state->gpu + state->gpus - 1) % state->gpus;
}

uint32_t t3_gpu(const struct t3_context* context) { return const_state_of(context)->gpu; }

uint32_t t3_gpus(const struct t3_context* context) { return const_state_of(context)->gpus; }

uint32_t t3_ring_workgroups(const struct t3_context* context) { return const_state_of(context)->ring_workgroups; }

const struct t3_hal* t3_hal_of(const struct t3_context* context) { return const_state_of(context)->hal; }
