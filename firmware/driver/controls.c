#include "context_state.h"
#include "registers.h"
#include "t3/registers/cache.h"
#include "t3/registers/memory_controller.h"
#include "wait.h"

static enum t3_status flush_cache(struct t3_context* context) {
  const uint64_t deadline = t3_deadline(context);
  struct t3_registers cache = t3_own_block(context, T3_BLOCK_CACHE);
  t3_put32(&cache, T3_CACHE_COMMAND_OFFSET, T3_CACHE_COMMAND_ACTION_FLUSH << T3_CACHE_COMMAND_ACTION_SHIFT);
  for (;;) {
    t3_clear(context, &cache, T3_LINE_CACHE, T3_CACHE_INTERRUPT_OFFSET, T3_CACHE_INTERRUPT_FLUSHED_MASK);
    const uint32_t status = t3_get32(&cache, T3_CACHE_STATUS_OFFSET);
    T3_TRY(cache.status);
    if ((status & T3_CACHE_STATUS_BUSY_MASK) == 0)
      return (enum t3_status)((status & T3_CACHE_STATUS_CODE_MASK) >> T3_CACHE_STATUS_CODE_SHIFT);
    T3_TRY(t3_sleep(context, T3_LINE_CACHE, deadline, "the cache's flush"));
  }
}

enum t3_status t3_flush_cache(struct t3_context* context) { return T3_LOCKED(context, flush_cache(context)); }

static enum t3_status set_arbitration(struct t3_context* context, enum t3_arbitration policy, uint32_t limit) {
  /* The register knows its policies. */
  const uint32_t most = T3_MEMORY_CONTROLLER_ARBITRATION_POLICY_MASK >> T3_MEMORY_CONTROLLER_ARBITRATION_POLICY_SHIFT;
  if ((uint32_t)policy > most) return t3_at_fault(context, "policy", "a member of enum t3_arbitration");
  if (limit > T3_LIMIT_NONE) return t3_at_fault(context, "limit", "0 to 255");
  struct t3_registers controller = t3_own_block(context, T3_BLOCK_MEMORY_CONTROLLER);
  t3_put32(&controller, T3_MEMORY_CONTROLLER_ARBITRATION_OFFSET,
           (uint32_t)policy << T3_MEMORY_CONTROLLER_ARBITRATION_POLICY_SHIFT |
               limit << T3_MEMORY_CONTROLLER_ARBITRATION_LIMIT_SHIFT);
  if (controller.status == T3_BAD_VALUE)
    return t3_at_fault_as(context, T3_BAD_VALUE, "policy", "one that this run has");
  if (controller.status == T3_INVALID_ARGUMENT) return t3_at_fault(context, "limit", "one that the policy has");
  return controller.status;
}

enum t3_status t3_set_arbitration(struct t3_context* context, enum t3_arbitration policy, uint32_t limit) {
  return T3_LOCKED(context, set_arbitration(context, policy, limit));
}
