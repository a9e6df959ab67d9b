/* Kernel packets on their way into the queue. */
#ifndef T3_DRIVER_PACKETS_H
#define T3_DRIVER_PACKETS_H

#include "t3/kernel_packet.h"
#include "t3/t3.h"

/* Whether a packet can speak of the matrix. */
bool t3_is_operand(const struct t3_matrix* matrix);
bool t3_is_valid(const struct t3_output* output);
/* What every kernel says about its output. */
struct t3_kernel_packet t3_packet_for(const struct t3_context* context, const struct t3_output* output);
/* With so many workgroups for each matrix; false when there are too many. */
bool t3_set_batch(struct t3_kernel_packet* packet, const struct t3_batch* batch, uint32_t workgroups);
/* How many have ended since reset, noticing the first failure; what the kernel queue's handler has to hear of is kept.
 */
enum t3_status t3_look_at_kernels(struct t3_context* context, uint64_t* completed);
/* Of one that has ended. */
enum t3_status t3_code_of_kernel(const struct t3_context* context, uint64_t number);
enum t3_status t3_submit(struct t3_context* context, const struct t3_kernel_packet* packet);

#endif
