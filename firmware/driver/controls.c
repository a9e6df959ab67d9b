#include "context.h"
#include "registers.h"
#include "t3/registers/cache.h"
#include "t3/registers/memory_controller.h"
#include "wait.h"

#define FLUSH_POLL_NS 500u /* the cache has no interrupt */

enum t3_status t3_flush_cache(struct t3_context* context) {
  if (!t3_is_open(context)) return T3_INVALID_ARGUMENT;
  const struct t3_hal* hal = context->hal;
  const uint64_t deadline = t3_deadline(context);
  struct t3_registers cache = t3_own_block(context, T3_BLOCK_CACHE);
  t3_put32(&cache, T3_CACHE_COMMAND_OFFSET, T3_CACHE_COMMAND_ACTION_FLUSH << T3_CACHE_COMMAND_ACTION_SHIFT);
  while (t3_get32(&cache, T3_CACHE_STATUS_OFFSET) & T3_CACHE_STATUS_BUSY_MASK) {
    const uint64_t now = hal->time_ns(hal->platform);
    if (now >= deadline) return T3_TIMEOUT;
    hal->wait_ns(hal->platform, deadline - now < FLUSH_POLL_NS ? deadline - now : FLUSH_POLL_NS);
  }
  return cache.status;
}

enum t3_status t3_set_arbitration(struct t3_context* context, enum t3_arbitration policy, uint32_t limit) {
  if (!t3_is_open(context) || (uint32_t)policy > T3_MCA || limit > T3_LIMIT_NONE) return T3_INVALID_ARGUMENT;
  struct t3_registers controller = t3_own_block(context, T3_BLOCK_MEMORY_CONTROLLER);
  t3_put32(&controller, T3_MEMORY_CONTROLLER_ARBITRATION_OFFSET,
           (uint32_t)policy << T3_MEMORY_CONTROLLER_ARBITRATION_POLICY_SHIFT |
               limit << T3_MEMORY_CONTROLLER_ARBITRATION_LIMIT_SHIFT);
  return controller.status;
}
