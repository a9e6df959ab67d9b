/* Which interrupt lines are enabled, and calling the handlers of those that are raised. The lock is held. */
#ifndef T3_DRIVER_HANDLERS_H
#define T3_DRIVER_HANDLERS_H

#include "t3/t3.h"

/* Enables no line but these. T3_STALE when the context is known to be. */
enum t3_status t3_enable_only(struct t3_context* context, uint32_t lines);

/* Lines whose handlers may be called now, a bit each; none when the context is known to be stale. */
uint32_t t3_handled_lines(const struct t3_context* context);
/* Calls the handlers of all lines that are raised, the highest priority first, with the lock held in between. */
void t3_serve(struct t3_context* context);

/* A fill has ended, with this status of the DMA engine. */
void t3_note_fill(struct t3_context* context, uint32_t status);

/* Marks the line's causes so far as reported, without a call of its handler. */
enum t3_status t3_forget_line(struct t3_context* context, enum t3_line line);

#endif
