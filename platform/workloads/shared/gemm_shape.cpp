#include "workloads/shared/gemm_shape.h"

#include <algorithm>

namespace t3vp {
namespace {

/// Elements of the tiles before workgroup `wg_id`.
std::uint64_t elements_before(const TileGrid& grid, std::uint32_t wg_id) {
  const std::uint32_t tile_row = wg_id / grid.tiles_across();
  const std::uint64_t rows = std::min<std::uint64_t>(std::uint64_t{tile_row} * grid.tile_rows, grid.rows);
  const std::uint64_t height = std::min<std::uint64_t>(grid.tile_rows, grid.rows - rows);
  const std::uint64_t width = std::uint64_t{wg_id % grid.tiles_across()} * grid.tile_columns;
  return rows * grid.columns + height * width;
}

}  // namespace

GemmProblem gemm_problem(const GemmShape& gemm, const RunSettings& settings) {
  GemmProblem problem;
  problem.gemm = gemm;
  problem.wavefronts = settings.system.compute.wavefronts;
  problem.slab_depth = settings.system.compute.slab_depth;
  problem.gpus = settings.gpus;
  problem.operands = settings.operands;
  problem.seed = settings.seed;
  return problem;
}

std::vector<std::uint64_t> chunk_elements(const TileGrid& grid, std::uint32_t gpus) {
  std::vector<std::uint64_t> elements;
  for (std::uint32_t chunk = 0; chunk < gpus; ++chunk)
    elements.push_back(elements_before(grid, grid.chunk_begin(chunk + 1, gpus)) -
                       elements_before(grid, grid.chunk_begin(chunk, gpus)));
  return elements;
}

TileGrid output_grid(const GemmShape& gemm, std::uint32_t wavefronts) {
  constexpr std::uint64_t row_alignment = 32;
  const std::uint64_t row_bytes = std::uint64_t{gemm.n} * bytes_of(gemm.element);
  TileGrid grid;
  grid.rows = gemm.m;
  grid.columns = gemm.n;
  grid.tile_rows = gemm.tile.rows;
  grid.tile_columns = gemm.tile.columns;
  grid.wavefronts = wavefronts;
  grid.row_stride = (row_bytes + row_alignment - 1) / row_alignment * row_alignment;
  grid.element = gemm.element;
  return grid;
}

}  // namespace t3vp
