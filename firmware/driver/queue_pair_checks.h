/* Checks of queue pairs, for the calls that take one. The lock is held. */
#ifndef T3_DRIVER_QUEUE_PAIR_CHECKS_H
#define T3_DRIVER_QUEUE_PAIR_CHECKS_H

#include "registers.h"
#include "t3/nic.h"

/* Names the member that no queue pair can have. */
enum t3_status t3_check_queue(struct t3_context* context, const struct t3_nic_queue* queue);
/* The same, and the queue pair has been created and not been reset. */
enum t3_status t3_check_created(struct t3_context* context, const struct t3_nic_queue* queue);
/* T3_NIC_STATE_NOW_... */
enum t3_status t3_read_queue_state(struct t3_context* context, const struct t3_nic_queue* queue, uint32_t* state);
/* The status of an access to the NIC's registers: T3_BAD_ADDRESS, when there is none, is said in words. */
enum t3_status t3_nic_access(struct t3_context* context, enum t3_status status);

#endif
