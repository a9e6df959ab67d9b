/* The experts of a token, drawn: what the router in front of the layer decides. The program draws them once and
 * writes the lists that kernels read. */
#ifndef T3_WORKLOADS_MOE_ROUTING_H
#define T3_WORKLOADS_MOE_ROUTING_H

#include "workloads/moe/moe_layout.h"

/* Draws the choices of token `token` of all GPUs' tokens: different experts, each draw by the weights of those left. */
void t3_moe_choices(const struct t3_moe* e, uint64_t token, uint32_t* experts);

#endif
