#include "call_errors.h"

#include "t3_hal.h"

enum { LINE_BYTES = 256 };

/* Says why the call may be repeated as it is: nothing is wrong with it. */
static bool is_not_yet(enum t3_status status) { return status == T3_TIMEOUT || status == T3_BUSY; }

static char* append(char* to, const char* end, const char* text) {
  while (*text != '\0' && to < end) *to++ = *text++;
  *to = '\0';
  return to;
}

/* "t3_dma_map: chunk: 1 or more workgroups of the output expected" or, without a fault, "t3_barrier" */
static void tell(const struct t3_hal* hal, const char* call, struct t3_fault fault) {
  char line[LINE_BYTES];
  const char* const end = line + LINE_BYTES - 1;
  char* to = append(line, end, call);
  if (fault.argument != NULL) to = append(append(to, end, ": "), end, fault.argument);
  if (fault.text != NULL) to = append(append(to, end, ": "), end, fault.text);
  if (fault.argument != NULL) append(to, end, " expected");
  hal->error(hal->platform, fault.status, line);
}

void t3_note_failure(struct t3_context* context, const char* call, enum t3_status status, struct t3_fault fault) {
  struct t3_state* state = state_of(context);
  if (state->call != NULL) call = state->call;
  state->last_error = (struct t3_call_error){.code = status,
                                             .call = call,
                                             .argument = fault.argument != NULL ? fault.argument : "",
                                             .text = fault.text != NULL ? fault.text : t3_status_text(status)};
  if ((is_not_yet(status) && fault.text == NULL) || state->hal->error == NULL) return;
  state->error_is_open = true;
  fault.status = status;
  tell(state->hal, call, fault);
}

static enum t3_status keep(struct t3_context* context, struct t3_fault fault) {
  state_of(context)->fault = fault;
  return fault.status;
}

enum t3_status t3_at_fault_as(struct t3_context* context, enum t3_status status, const char* argument,
                              const char* expected) {
  return keep(context, (struct t3_fault){status, argument, expected});
}

enum t3_status t3_at_fault(struct t3_context* context, const char* argument, const char* expected) {
  return t3_at_fault_as(context, T3_INVALID_ARGUMENT, argument, expected);
}

enum t3_status t3_outcome(struct t3_context* context, enum t3_status status, const char* text) {
  return status == T3_OK ? T3_OK : keep(context, (struct t3_fault){status, NULL, text});
}

struct t3_fault t3_take_fault(struct t3_context* context, enum t3_status status) {
  struct t3_state* state = state_of(context);
  const struct t3_fault fault = state->fault, none = {0};
  state->fault = none;
  return fault.status == status ? fault : none;
}

enum t3_status t3_refuse(struct t3_context* context, const char* call, struct t3_fault fault) {
  if (!t3_is_open(context)) return T3_INVALID_ARGUMENT;
  const struct t3_hal* hal = state_of(context)->hal;
  hal->lock(hal->platform);
  t3_note_failure(context, call, fault.status, fault);
  hal->unlock(hal->platform);
  return fault.status;
}

struct t3_call_error t3_last_error(struct t3_context* context) {
  struct t3_state* state = state_of(context);
  if (!t3_is_open(context))
    return (struct t3_call_error){T3_INVALID_ARGUMENT, "t3_last_error", "context", "an open context"};
  const struct t3_hal* hal = state->hal;
  hal->lock(hal->platform);
  const struct t3_call_error error = state->last_error;
  state->last_error = (struct t3_call_error){T3_OK, "", "", t3_status_text(T3_OK)};
  if (state->error_is_open) hal->error(hal->platform, T3_OK, NULL);
  state->error_is_open = false;
  hal->unlock(hal->platform);
  return error.call != NULL ? error : state->last_error;
}
