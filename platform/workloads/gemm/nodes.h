/* GPUs of nodes that NICs join: where a GPU is, which tiles of an output it owns and sums (t3/fused.h), and a queue
 * pair to the same GPU of each other node. */
#ifndef T3_PROGRAMS_NODES_H
#define T3_PROGRAMS_NODES_H

#include "t3/nic_maps.h"
#include "t3/workloads/gemm.h"

enum { T3_NODES_GPUS_MAX = 256, T3_NODES_MAX = T3_DMA_QUEUES + 1 };

struct t3_nodes {
  uint32_t count, size, node, local_rank; /* nodes, GPUs of each, this GPU's node and its local rank there */
};

struct t3_nodes t3_nodes_of(const struct t3_context* gpu, const struct t3_gemm_workload* w);

static inline uint32_t t3_gpu_at(const struct t3_nodes* n, uint32_t node, uint32_t place) {
  return node * n->size + place;
}
/* The number of another node without this one. */
static inline uint32_t t3_index_of(uint32_t other, uint32_t node) { return other < node ? other : other - 1; }
/* All chunks of a place, one run: what that GPU of each node sums there. */
struct t3_chunk t3_run_of(const struct t3_nodes* n, const struct t3_output* out, uint32_t place);
struct t3_chunk t3_owned_by(const struct t3_nodes* n, const struct t3_output* out, uint32_t node, uint32_t place);

struct t3_node_queues {
  struct t3_nic_queue queues[T3_NODES_MAX - 1]; /* by the other node's index */
  uint32_t keys[T3_NODES_GPUS_MAX];             /* of all GPUs' outputs, which peers may accumulate to */
};

/* On all GPUs at the same time. */
enum t3_status t3_open_node_queues(struct t3_context* gpu, const struct t3_nodes* n, const struct t3_output* out,
                                   struct t3_node_queues* queues);
enum t3_status t3_close_node_queues(struct t3_context* gpu, const struct t3_nodes* n, struct t3_node_queues* queues);

#endif
