// Which tile a GEMM's workgroups compute, as the heuristics of vendors' libraries choose among the kernels they have:
// by an estimate of the time, not by trying. docs/models/timing.md has the rule and what it has been compared with.
#pragma once

#include <vector>

#include "workloads/shared/gemm_shape.h"

namespace t3vp {

/// Times of a GEMM on one GPU in ns, each for itself.
struct GemmEstimate {
  double compute = 0;  ///< of the compute unit that has most tiles, each of them whole
  double loads = 0;    ///< through that compute unit's port
  double latency = 0;  ///< of K tiles that wait for the memory, prefetched as far as there are buffers
  double cache = 0;    ///< of all loads at the rate of the cache's banks
  double dram = 0;     ///< operands and output once, at the peak rate
  double edges = 0;    ///< what no other workgroup of the compute unit hides: first K tile and stores
  double total() const;
};

GemmEstimate estimate_gemm(const GemmSystem& system, const GemmShape& gemm, TileShape tile);

/// The system's own tile, then those of its library that need no more registers.
std::vector<TileShape> tiles_of(const GemmSystem& system);

/// Estimates within 5% of the shortest are taken as equal, since the estimate knows no contention. The largest tile
/// among them is taken: it reads least. Of several, the first.
TileShape choose_tile(const GemmSystem& system, const GemmShape& gemm);

/// Returns the least time of the compute units for `matrices` GEMMs of m x n x k in one kernel. A tile at the edge
/// takes as long as any other, and one of `compute_units` has the largest share of them.
Picoseconds quantized_compute_time(const compute::ComputeParameters& compute, TileShape tile, std::uint32_t m,
                                   std::uint32_t n, std::uint32_t k, std::uint32_t matrices);

}  // namespace t3vp
