/* Waiting for the GPU's blocks through the interrupt controller. */
#ifndef T3_DRIVER_WAIT_H
#define T3_DRIVER_WAIT_H

#include "t3/t3.h"

/* Lines of the interrupt controller. */
enum t3_line { T3_LINE_KERNEL_QUEUE, T3_LINE_DMA, T3_LINE_SIGNALS, T3_LINE_ERROR_LOG, T3_LINE_TRACKER };

/* When a call that begins now has to end, by the HAL's clock. */
uint64_t t3_deadline(const struct t3_context* context);

/* Until the line is raised or the deadline has come (T3_TIMEOUT). The caller clears the cause before it looks at what
 * it waits for, and only then sleeps, so that nothing is missed in between. */
enum t3_status t3_sleep(struct t3_context* context, enum t3_line line, uint64_t deadline_ns, const char* reason);
/* The same with several lines, a bit each. */
enum t3_status t3_sleep_any(struct t3_context* context, uint32_t lines, uint64_t deadline_ns, const char* reason);

#endif
