#include "context_state.h"
#include "registers.h"
#include "t3/registers/system.h"

bool t3_is_stale(struct t3_context* context) {
  if (context->stale) return true;
  struct t3_registers r = t3_own_block(context, T3_BLOCK_SYSTEM);
  const uint64_t owner = t3_get64(&r, t3_scratch(T3_SCRATCH_OWNER));
  context->stale = r.status == T3_OK && owner != context->owner;
  return context->stale;
}

uint32_t t3_ring_previous(const struct t3_context* context) {
  if (!t3_is_open(context)) return 0;
  return (context->gpu + context->gpus - 1) % context->gpus;
}
