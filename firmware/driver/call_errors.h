/* What calls have refused or failed with, for t3_last_error and for the platform. */
#ifndef T3_DRIVER_CALL_ERRORS_H
#define T3_DRIVER_CALL_ERRORS_H

#include "context_state.h"
#include "t3/t3.h"

/* Says which parameter of the present call is at fault and what was expected of it. The lock is held, and the call
 * returns with this T3_INVALID_ARGUMENT. Both texts are constants. */
enum t3_status t3_at_fault(struct t3_context* context, const char* argument, const char* expected);
/* The same with another code. T3_BUSY and T3_TIMEOUT are not for it: a call may be repeated as it is then. */
enum t3_status t3_at_fault_as(struct t3_context* context, enum t3_status status, const char* argument,
                              const char* expected);
/* Says what a failure of the present call means, such as that of a kernel. Then T3_BUSY and T3_TIMEOUT are errors, too.
 * Returns the status. */
enum t3_status t3_outcome(struct t3_context* context, enum t3_status status, const char* text);
/* A refusal without the lock, of a call that has not begun. Returns the status. A context that is not open keeps
 * nothing.
 */
enum t3_status t3_refuse(struct t3_context* context, const char* call, struct t3_fault fault);

/* Returns what t3_at_fault or t3_outcome have said about the call that returns this status. */
struct t3_fault t3_take_fault(struct t3_context* context, enum t3_status status);
/* The call has failed. The lock is held. */
void t3_note_failure(struct t3_context* context, const char* call, enum t3_status status, struct t3_fault fault);

/* The same of the public call that this is in. */
#define T3_REFUSE_AS(context, status, argument, expected) \
  t3_refuse((context), __func__, (struct t3_fault){(status), (argument), (expected)})
#define T3_REFUSE(context, argument, expected) T3_REFUSE_AS(context, T3_INVALID_ARGUMENT, argument, expected)

#endif
