// GEMMs by their shapes, for the workloads that have one.
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/tile_grid.h"
#include "system/system_configuration.h"
#include "workloads/run_settings.h"

namespace t3vp {

/// C = A B on every GPU: A is m x k, B k x n (stored n x k when transposed), C m x n.
struct GemmShape {
  std::uint32_t m = 0, n = 0, k = 0;
  ElementType element = ElementType::fp16;
  bool transpose_b = false;
  TileShape tile;  ///< the run file's, else the one that choose_tile() has chosen
};

/// A GEMM of which every GPU computes its part.
struct GemmProblem {
  GemmShape gemm;
  std::uint32_t wavefronts = 1;  ///< wavefronts of a workgroup
  std::uint32_t slab_depth = 1;  ///< elements of K that a workgroup takes at a time
  std::uint32_t gpus = 1;        ///< GPUs whose products are summed, or exchanged
  Operands operands = Operands::exact;
  std::uint64_t seed = 1;
};

GemmProblem gemm_problem(const GemmShape& gemm, const RunSettings& settings);

/// Elements of the tiles of each GPU's chunk.
std::vector<std::uint64_t> chunk_elements(const TileGrid& grid, std::uint32_t gpus);

/// Output tiles of a GEMM whose workgroups have so many wavefronts; rows are padded to 32 bytes.
TileGrid output_grid(const GemmShape& gemm, std::uint32_t wavefronts);

}  // namespace t3vp
