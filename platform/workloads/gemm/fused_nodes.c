#include "workloads/gemm/fused_nodes.h"

#include "workloads/gemm/gemm_tensors.h"

struct t3_chunk t3_summed_here(const struct t3_context* gpu, const struct t3_gemm_workload* w,
                               const struct t3_output* out) {
  const struct t3_nodes n = t3_nodes_of(gpu, w);
  return t3_run_of(&n, out, n.local_rank);
}

uint32_t t3_first_of_turns(const struct t3_context* gpu, const struct t3_gemm_workload* w,
                           const struct t3_output* out) {
  const struct t3_nodes n = t3_nodes_of(gpu, w);
  return t3_owned_by(&n, out, (n.node + 1) % n.count, (n.local_rank + 1) % n.size).first_workgroup;
}

static enum t3_status open_routes(struct t3_context* gpu, const struct t3_nodes* n, const struct t3_output* out,
                                  struct t3_node_queues* queues) {
  T3_TRY(t3_open_node_queues(gpu, n, out, queues));
  for (uint32_t i = 0; i + 1 < n->count; ++i) T3_TRY(t3_dma_lend(gpu, i, &queues->queues[i]));
  return T3_OK;
}

/* What the other GPUs of the node sum goes there as it is stored. */
static enum t3_status map_inside(struct t3_context* gpu, const struct t3_nodes* n, const struct t3_output* out) {
  for (uint32_t i = 1; i < n->size; ++i) {
    const uint32_t place = (n->local_rank + i) % n->size;
    const struct t3_chunk run = t3_run_of(n, out, place);
    const uint64_t sum = t3_peer_address(&out->matrix, t3_gpu_at(n, n->node, place));
    if (run.workgroups != 0) T3_TRY(t3_remote_map(gpu, out, run, sum, T3_UPDATE));
  }
  return T3_OK;
}

static enum t3_status map_to(struct t3_context* gpu, const struct t3_gemm_workload* w, const struct t3_nodes* n,
                             const struct t3_output* out, const struct t3_node_queues* queues, uint32_t other) {
  const uint32_t owner = t3_gpu_at(n, other, n->local_rank);
  const struct t3_chunk chunk = t3_owned_by(n, out, other, n->local_rank);
  const struct t3_dma_options of_node = {.updates = n->size * w->split_k, .block_tiles = w->block_tiles};
  const struct t3_nic_route route = {t3_index_of(other, n->node), queues->keys[t3_gpu(gpu)], queues->keys[owner]};
  const uint64_t sum = t3_peer_address(&out->matrix, owner);
  if (chunk.workgroups == 0) return T3_OK;
  return w->by_nic ? t3_dma_map_nic(gpu, out, chunk, sum, &route, of_node)
                   : t3_dma_map(gpu, out, chunk, sum, T3_UPDATE, of_node);
}

enum t3_status t3_map_nodes(struct t3_context* gpu, const struct t3_gemm_workload* w, const struct t3_output* out,
                            struct t3_node_queues* queues) {
  const struct t3_nodes n = t3_nodes_of(gpu, w);
  const struct t3_chunk own = t3_owned_by(&n, out, n.node, n.local_rank);
  if (w->by_nic) T3_TRY(open_routes(gpu, &n, out, queues));
  T3_TRY(map_inside(gpu, &n, out));
  for (uint32_t i = 1; i < n.count; ++i) T3_TRY(map_to(gpu, w, &n, out, queues, (n.node + i) % n.count));
  return own.workgroups == 0 ? T3_OK : t3_dma_map(gpu, out, own, 0, T3_NOTIFY, t3_gemm_dma_options(w));
}

enum t3_status t3_close_node_routes(struct t3_context* gpu, const struct t3_gemm_workload* w,
                                    struct t3_node_queues* queues) {
  const struct t3_nodes n = t3_nodes_of(gpu, w);
  for (uint32_t i = 0; i + 1 < n.count; ++i) T3_TRY(t3_dma_take_back(gpu, i, &queues->queues[i]));
  return t3_close_node_queues(gpu, &n, queues);
}
