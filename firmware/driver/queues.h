/* Queues at the start and at the end of a context. */
#ifndef T3_DRIVER_QUEUES_H
#define T3_DRIVER_QUEUES_H

#include <stdbool.h>

#include "t3/t3.h"

/* Opens the queue on the ring at `base`. */
enum t3_status t3_start_queue(struct t3_context* context, uint32_t queue, uint64_t base);
/* Whether there is such a queue, and it is open. */
bool t3_is_queue(const struct t3_context* context, uint32_t queue);
enum t3_status t3_put_queue_options(struct t3_context* context, uint32_t queue, const struct t3_queue_options* options);
/* Leaves priorities and masks as the next context expects them. */
enum t3_status t3_close_queues(struct t3_context* context);

#endif
