/* Waiting for the GPU's blocks through the interrupt controller, and exclusive access to the driver meanwhile.
 *
 * A call holds the HAL's lock from its start to its end and releases it while it waits. A handler therefore finds the
 * context in a consistent state, as calls leave it between two polls of the hardware. */
#ifndef T3_DRIVER_WAIT_H
#define T3_DRIVER_WAIT_H

#include "call_errors.h"
#include "context_state.h"
#include "registers.h"
#include "t3/t3.h"

/* False when the context is not open. Otherwise the lock is held until t3_leave. */
bool t3_enter(struct t3_context* context);
/* Returns the status, and keeps a failure of the call of this name. Handlers run of what the call has noticed. */
enum t3_status t3_leave(struct t3_context* context, enum t3_status status, const char* call);

/* The status of a public call on an open context, under the lock. It stands in the public call, whose name it takes. */
#define T3_LOCKED(context, call) T3_LOCKED_AS(__func__, context, call)
/* The same for a public call of this name. */
#define T3_LOCKED_AS(name, context, call) \
  (t3_enter(context) ? t3_leave((context), state_of(context)->stale ? T3_STALE : (call), (name)) : T3_INVALID_ARGUMENT)

/* Returns the deadline of a call that begins now, by the HAL's clock. */
uint64_t t3_deadline(const struct t3_context* context);

/* Clears bits of a block's interrupt register before their state is looked at. The line's handler hears of those that
 * were set. */
void t3_clear(struct t3_context* context, struct t3_registers* block, enum t3_line line, uint32_t offset,
              uint32_t bits);

/* Waits until the line is raised, a handler has run or the deadline has come (T3_TIMEOUT). The deadline counts even
 * when the line is raised, perhaps for another reason. The caller clears the cause, then reads the awaited state, and
 * only then sleeps, so that no event is missed in between. */
enum t3_status t3_sleep(struct t3_context* context, enum t3_line line, uint64_t deadline_ns, const char* reason);
/* Does the same with several lines, a bit each. */
enum t3_status t3_sleep_any(struct t3_context* context, uint32_t lines, uint64_t deadline_ns, const char* reason);

#endif
