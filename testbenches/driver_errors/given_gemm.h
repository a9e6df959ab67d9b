/* The GEMM that a guest's run is about. */
#ifndef T3_TEST_GIVEN_GEMM_H
#define T3_TEST_GIVEN_GEMM_H

#include "t3/t3.h"
#include "t3/workloads/gemm.h"

/* Nothing where the run is about another workload. */
static inline struct t3_gemm_workload gemm_of(const struct t3_run* run) {
  struct t3_gemm_workload w;
  memset(&w, 0, sizeof w);
  (void)t3_gemm_workload_of(run, &w);
  return w;
}

static inline struct t3_tiling tiling_of(const struct t3_run* run) {
  const struct t3_gemm_workload w = gemm_of(run);
  const struct t3_tiling tiling = {w.tile_rows, w.tile_columns, w.wavefronts};
  return tiling;
}

static inline struct t3_dma_options dma_of(const struct t3_run* run) {
  const struct t3_gemm_workload w = gemm_of(run);
  const struct t3_dma_options options = {w.updates, w.block_tiles, T3_UPDATE};
  return options;
}

#endif
