/* Kernel packets on their way into the queue. */
#ifndef T3_DRIVER_PACKETS_H
#define T3_DRIVER_PACKETS_H

#include "t3/kernel_packet.h"
#include "t3/t3.h"

bool t3_is_valid(const struct t3_output* output);
/* What every kernel says about its output. */
struct t3_kernel_packet t3_packet_for(const struct t3_context* context, const struct t3_output* output);
/* Returns the number of matrices; 0 when there are too many. */
uint32_t t3_set_batch(struct t3_kernel_packet* packet, const struct t3_batch* batch);
enum t3_status t3_submit(struct t3_context* context, const struct t3_kernel_packet* packet);

#endif
