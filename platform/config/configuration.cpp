#include "config/configuration.h"

namespace t3vp {

const char* name_of(Method method) {
  constexpr const char* names[] = {"sequential", "t3", "t3-mca", "ideal-overlap", "ideal-rs-nmc"};
  return names[static_cast<std::size_t>(method)];
}

const char* name_of(Arbitration arbitration) {
  constexpr const char* names[] = {"round-robin", "compute-first", "mca", "mca-5", "mca-10", "mca-30", "mca-unlimited"};
  return names[static_cast<std::size_t>(arbitration)];
}

const char* name_of(McaScope scope) { return scope == McaScope::always ? "always" : "reduce-scatter"; }

const char* name_of(Operands operands) { return operands == Operands::exact ? "exact" : "random"; }

const char* name_of(LayerPart part) {
  constexpr const char* names[] = {"gemm", "attention", "element_wise", "optimizer"};
  return names[static_cast<std::size_t>(part)];
}

bool is_ideal(Method method) { return method == Method::ideal_overlap || method == Method::ideal_rs_nmc; }

std::uint32_t link_count(const RunConfiguration& c) {
  if (c.gpus == 1) return 0;
  if (c.mirror) return 1;
  return c.gpus == 2 ? 2 : 2 * c.gpus;
}

TileGrid output_grid(const RunConfiguration& configuration) {
  constexpr std::uint64_t row_alignment = 32;
  const GemmShape& gemm = configuration.workload.gemm;
  const std::uint64_t row_bytes = std::uint64_t{gemm.n} * bytes_of(gemm.element);
  TileGrid grid;
  grid.rows = gemm.m;
  grid.columns = gemm.n;
  grid.tile_rows = gemm.tile.rows;
  grid.tile_columns = gemm.tile.columns;
  grid.wavefronts = configuration.system.compute.wavefronts;
  grid.row_stride = (row_bytes + row_alignment - 1) / row_alignment * row_alignment;
  grid.element = gemm.element;
  return grid;
}

}  // namespace t3vp
