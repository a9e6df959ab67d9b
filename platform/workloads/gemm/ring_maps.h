/* The maps of a ring's reduce-scatter beside a GEMM (T3 Figures 7 and 12), for every program that has one. */
#ifndef T3_WORKLOADS_GEMM_RING_MAPS_H
#define T3_WORKLOADS_GEMM_RING_MAPS_H

#include "t3/t3.h"

/* Maps the stores of this GPU's GEMM and the updates that arrive from the next GPU. Chunk g stays on GPU g. With
 * `split_k` above 1 so many workgroups of the GEMM add to a tile. Then none of their stores leaves the GPU, and the
 * Tracker sends a tile on when it has counted all of them (T3 7.7). `dma.updates` are those of a tile that is added to
 * by this GPU and by the next one. */
enum t3_status t3_map_ring(struct t3_context* gpu, const struct t3_output* out, uint32_t split_k,
                           struct t3_dma_options dma);

#endif
