#include "workloads/gemm/ring_maps.h"

/* Nothing arrives for the first chunk. */
static enum t3_status map_first(struct t3_context* gpu, const struct t3_output* out, struct t3_chunk chunk,
                                uint32_t split_k, struct t3_dma_options dma) {
  const uint64_t peer_out = t3_peer_address(&out->matrix, t3_ring_previous(gpu));
  if (split_k <= 1) return t3_remote_map(gpu, out, chunk, peer_out, T3_UPDATE);
  dma.updates = split_k;
  return t3_dma_map(gpu, out, chunk, peer_out, T3_UPDATE, dma);
}

enum t3_status t3_map_ring(struct t3_context* gpu, const struct t3_output* out, uint32_t split_k,
                           struct t3_dma_options dma) {
  const uint32_t steps = t3_gpus(gpu);
  const uint64_t peer_out = t3_peer_address(&out->matrix, t3_ring_previous(gpu));
  for (uint32_t step = 0; step < steps; ++step) {
    const struct t3_chunk chunk = t3_ring_chunk(gpu, out, step);
    if (chunk.workgroups == 0) continue; /* fewer tiles than GPUs */
    if (step == 0) {
      T3_TRY(map_first(gpu, out, chunk, split_k, dma));
    } else if (step < steps - 1) {
      T3_TRY(t3_dma_map(gpu, out, chunk, peer_out, T3_UPDATE, dma));
    } else {
      T3_TRY(t3_dma_map(gpu, out, chunk, 0, T3_NOTIFY, dma));
    }
  }
  return T3_OK;
}
