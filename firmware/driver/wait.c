#include "wait.h"

#include "registers.h"
#include "t3/registers/interrupt_controller.h"

/* Only awaited lines are enabled: another one that is raised and not ours to clear would make every wait spin. */
static enum t3_status enable_only(struct t3_context* context, uint32_t lines) {
  if (context->enabled_lines == lines) return T3_OK;
  struct t3_registers r = t3_own_block(context, T3_BLOCK_INTERRUPT_CONTROLLER);
  t3_put32(&r, T3_INTERRUPT_CONTROLLER_ENABLE_OFFSET, lines);
  if (r.status == T3_OK) context->enabled_lines = lines;
  return r.status;
}

uint64_t t3_deadline(const struct t3_context* context) {
  if (context->timeout_ns == T3_FOREVER) return T3_FOREVER;
  const uint64_t now = context->hal->time_ns(context->hal->platform);
  return context->timeout_ns < T3_FOREVER - now ? now + context->timeout_ns : T3_FOREVER;
}

enum t3_status t3_sleep_any(struct t3_context* context, uint32_t lines, uint64_t deadline_ns, const char* reason) {
  T3_TRY(enable_only(context, lines));
  return context->hal->wait_for_interrupt(context->hal->platform, deadline_ns, reason);
}

enum t3_status t3_sleep(struct t3_context* context, enum t3_line line, uint64_t deadline_ns, const char* reason) {
  return t3_sleep_any(context, UINT32_C(1) << line, deadline_ns, reason);
}
