#include "context_state.h"
#include "handlers.h"
#include "wait.h"

static const char a_line[] = "a member of enum t3_line";

/* The processor's only interrupt entry; the HAL holds interrupts off. */
static void enter_interrupt(void* argument) { t3_serve(argument); }

static enum t3_status set_handler(struct t3_context* context, enum t3_line line, struct t3_vector vector) {
  struct t3_state* state = state_of(context);
  const struct t3_hal* hal = state->hal;
  if ((uint32_t)line >= T3_LINE_COUNT) return t3_at_fault(context, "line", a_line);
  if (vector.handler != NULL && vector.priority == 0) return t3_at_fault(context, "priority", "1 or more");
  if (t3_is_stale(context)) return T3_STALE; /* the processor's entry is the next context's */
  state->vectors[line] = vector;
  state->raised_lines &= ~(UINT32_C(1) << line);
  const enum t3_status status = vector.handler != NULL ? t3_forget_line(context, line) : T3_OK;
  bool any = false;
  for (uint32_t i = 0; i < T3_LINE_COUNT; ++i) any = any || state->vectors[i].handler != NULL;
  hal->take_interrupts(hal->platform, any ? enter_interrupt : NULL, context);
  return status != T3_OK ? status : t3_enable_only(context, t3_handled_lines(context));
}

enum t3_status t3_set_handler(struct t3_context* context, enum t3_line line, uint32_t priority, t3_handler* handler,
                              void* argument) {
  return T3_LOCKED(context, set_handler(context, line, (struct t3_vector){handler, argument, priority}));
}

static enum t3_status set_mask(struct t3_context* context, enum t3_line line, bool masked) {
  struct t3_state* state = state_of(context);
  if ((uint32_t)line >= T3_LINE_COUNT) return t3_at_fault(context, "line", a_line);
  if (t3_is_stale(context)) return T3_STALE; /* so are the lines that are enabled */
  const uint32_t bit = UINT32_C(1) << line;
  state->masked_lines = masked ? state->masked_lines | bit : state->masked_lines & ~bit;
  /* Kernels whose ends were noticed before the line was masked may not have been reported. */
  if (!masked && line == T3_LINE_KERNEL_QUEUE && state->vectors[line].handler != NULL) state->raised_lines |= bit;
  return t3_enable_only(context, t3_handled_lines(context));
}

enum t3_status t3_mask(struct t3_context* context, enum t3_line line) {
  return T3_LOCKED(context, set_mask(context, line, true));
}

enum t3_status t3_unmask(struct t3_context* context, enum t3_line line) {
  return T3_LOCKED(context, set_mask(context, line, false));
}
