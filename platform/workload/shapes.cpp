#include "workload/shapes.h"

namespace t3vp {

const char* name_of(LayerPart part) {
  constexpr const char* names[] = {"gemm", "attention", "element_wise", "optimizer"};
  return names[static_cast<std::size_t>(part)];
}

const char* name_of(Operands operands) { return operands == Operands::exact ? "exact" : "random"; }

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
