/* Waiting for the GPU's blocks through the interrupt controller. */
#ifndef T3_DRIVER_WAIT_H
#define T3_DRIVER_WAIT_H

#include "t3/t3.h"

/* Lines of the interrupt controller. */
enum t3_line { T3_LINE_KERNEL_QUEUE, T3_LINE_DMA, T3_LINE_SIGNALS, T3_LINE_ERROR_LOG, T3_LINE_TRACKER };

/* Until the line is raised. The caller clears the cause before it looks at what it waits for, and only then sleeps, so
 * that nothing is missed in between. */
enum t3_status t3_sleep(struct t3_context* context, enum t3_line line, const char* reason);

#endif
