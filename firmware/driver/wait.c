#include "wait.h"

#include "context_state.h"
#include "handlers.h"

bool t3_enter(struct t3_context* context) {
  struct t3_state* state = state_of(context);
  if (!t3_is_open(context)) return false;
  state->hal->lock(state->hal->platform);
  ++state->calls;
  return true;
}

enum t3_status t3_leave(struct t3_context* context, enum t3_status status, const char* call) {
  struct t3_state* state = state_of(context);
  struct t3_fault fault = {0};
  if (status != T3_OK) fault = t3_take_fault(context, status); /* before a handler's calls say theirs */
  if (state->raised_lines & t3_handled_lines(context)) t3_serve(context);
  /* Only behind a failure: what goes well takes no time for it. */
  if (status != T3_OK && t3_is_stale(context)) {
    status = T3_STALE;
    fault = (struct t3_fault){0};
  }
  if (status != T3_OK) t3_note_failure(context, call, status, fault);
  --state->calls;
  state->hal->unlock(state->hal->platform);
  return status;
}

uint64_t t3_deadline(const struct t3_context* context) {
  const struct t3_state* state = const_state_of(context);
  if (state->timeout_ns == T3_FOREVER) return T3_FOREVER;
  const uint64_t now = state->hal->time_ns(state->hal->platform);
  return state->timeout_ns < T3_FOREVER - now ? now + state->timeout_ns : T3_FOREVER;
}

void t3_clear(struct t3_context* context, struct t3_registers* block, enum t3_line line, uint32_t offset,
              uint32_t bits) {
  struct t3_state* state = state_of(context);
  uint32_t set = bits;
  if (state->vectors[line].handler != NULL) {
    set = t3_get32(block, offset) & bits;
    if (set == 0) return;
    state->raised_lines |= UINT32_C(1) << line;
  }
  t3_put32(block, offset, set);
}

/* When a handler has reset the GPU, the awaited event never comes. */
static enum t3_status behind_handlers(struct t3_context* context) { return t3_is_stale(context) ? T3_STALE : T3_OK; }

/* Handlers cannot run between the caller's look and the sleep, nor clear what it waits for: they run when it is over.
 */
enum t3_status t3_sleep_any(struct t3_context* context, uint32_t lines, uint64_t deadline_ns, const char* reason) {
  struct t3_state* state = state_of(context);
  const struct t3_hal* hal = state->hal;
  const uint32_t handled = t3_handled_lines(context);
  if (deadline_ns != T3_FOREVER && hal->time_ns(hal->platform) >= deadline_ns) return T3_TIMEOUT;
  if (state->raised_lines & handled) {
    t3_serve(context);
    return behind_handlers(context);
  }
  T3_TRY(t3_enable_only(context, lines | handled));
  const enum t3_status status = hal->wait_for_interrupt(hal->platform, deadline_ns, reason);
  if (handled != 0) T3_TRY(t3_enable_only(context, handled));
  hal->unlock(hal->platform);
  hal->lock(hal->platform);
  return status == T3_OK && handled != 0 ? behind_handlers(context) : status;
}

enum t3_status t3_sleep(struct t3_context* context, enum t3_line line, uint64_t deadline_ns, const char* reason) {
  return t3_sleep_any(context, UINT32_C(1) << line, deadline_ns, reason);
}
