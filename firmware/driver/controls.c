#include <stddef.h>

#include "registers.h"
#include "t3/registers/cache.h"
#include "t3/registers/memory_controller.h"
#include "t3/t3.h"

#define FLUSH_POLL_NS 500u /* the cache has no interrupt */

enum t3_status t3_flush_cache(struct t3_context* context) {
  if (context == NULL) return T3_INVALID_ARGUMENT;
  struct t3_registers cache = t3_own_block(context, T3_BLOCK_CACHE);
  t3_put32(&cache, T3_CACHE_COMMAND_OFFSET, T3_CACHE_COMMAND_ACTION_FLUSH << T3_CACHE_COMMAND_ACTION_SHIFT);
  while (t3_get32(&cache, T3_CACHE_STATUS_OFFSET) & T3_CACHE_STATUS_BUSY_MASK) {
    context->hal->wait_ns(context->hal->platform, FLUSH_POLL_NS);
  }
  return cache.status;
}

enum t3_status t3_set_arbitration(struct t3_context* context, enum t3_arbitration policy, uint32_t limit) {
  if (context == NULL || limit > T3_LIMIT_NONE) return T3_INVALID_ARGUMENT;
  struct t3_registers controller = t3_own_block(context, T3_BLOCK_MEMORY_CONTROLLER);
  t3_put32(&controller, T3_MEMORY_CONTROLLER_ARBITRATION_OFFSET,
           (uint32_t)policy << T3_MEMORY_CONTROLLER_ARBITRATION_POLICY_SHIFT |
               limit << T3_MEMORY_CONTROLLER_ARBITRATION_LIMIT_SHIFT);
  return controller.status;
}
