/* A fused reduce-scatter of nodes: what the GPUs of a node compute for a place, the same GPU of each node, is summed at
 * that GPU of their node, which adds each complete tile to the sum of its owner in another node: over links between
 * nodes, or by the NIC. */
#ifndef T3_FUSED_NODES_H
#define T3_FUSED_NODES_H

#include "workloads/gemm/nodes.h"

/* Tiles that this GPU sums, for itself and for the owners in the other nodes. */
struct t3_chunk t3_summed_here(const struct t3_context* gpu, const struct t3_gemm_workload* w,
                               const struct t3_output* out);
/* Returns the first workgroup of a GEMM whose tiles go round-robin over their owners: none for this GPU's local rank,
 * and none for its node. */
uint32_t t3_first_of_turns(const struct t3_context* gpu, const struct t3_gemm_workload* w, const struct t3_output* out);

/* Opens the queue pairs where NICs join the nodes, on all GPUs at the same time, and maps. */
enum t3_status t3_map_nodes(struct t3_context* gpu, const struct t3_gemm_workload* w, const struct t3_output* out,
                            struct t3_node_queues* queues);
/* Closes the routes by NICs, after t3_remote_unmap_all, on all GPUs at the same time. */
enum t3_status t3_close_node_routes(struct t3_context* gpu, const struct t3_gemm_workload* w,
                                    struct t3_node_queues* queues);

#endif
