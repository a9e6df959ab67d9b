/* Queues at the start and at the end of a context. */
#ifndef T3_DRIVER_QUEUES_H
#define T3_DRIVER_QUEUES_H

#include "t3/t3.h"

/* Opens the queue on the ring at `base`. */
enum t3_status t3_start_queue(struct t3_context* context, uint32_t queue, uint64_t base);
/* Leaves priorities and masks as the next context expects them. */
enum t3_status t3_close_queues(struct t3_context* context);

#endif
