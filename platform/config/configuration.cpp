#include "config/configuration.h"

namespace t3vp {

const char* name_of(Method method) {
  constexpr const char* names[] = {"sequential", "t3",        "t3-mca", "ideal-overlap", "ideal-rs-nmc",
                                   "bulk",       "zero-copy", "fused",  "fused-backward"};
  return names[static_cast<std::size_t>(method)];
}

const char* name_of(McaScope scope) { return scope == McaScope::always ? "always" : "reduce-scatter"; }

bool is_of_kernels(Method method) { return method >= Method::bulk; }

bool pools_fused(Method method) { return method == Method::fused || method == Method::fused_backward; }

bool is_ideal(Method method) { return method == Method::ideal_overlap || method == Method::ideal_rs_nmc; }

const GpuParameters& parameters_of(const SystemConfiguration& system, std::uint32_t gpu) {
  for (const OtherGpu& other : system.other_gpus)
    if (other.gpu == gpu) return other.parameters;
  return system;
}

std::uint32_t link_count(const RunConfiguration& c) { return static_cast<std::uint32_t>(fabric_of(c).links.size()); }

std::uint32_t updates_of(const RunConfiguration& c) {
  return t3_fused_updates(c.workload.fused, c.gpus, c.workload.gpus_per_node);
}

bool is_scattered(const RunConfiguration& c) {
  return c.workload.by_nic || c.workload.fused == T3_FUSED_HIERARCHICAL_REDUCE_SCATTER;
}

std::uint32_t chunk_of(const RunConfiguration& c, std::uint32_t gpu) {
  const t3_fused_kind kind = is_scattered(c) ? T3_FUSED_HIERARCHICAL_REDUCE_SCATTER : c.workload.fused;
  return t3_fused_chunk(kind, gpu, c.gpus, c.workload.gpus_per_node);
}

bool owns(const RunConfiguration& c, std::uint32_t gpu, std::uint32_t row, std::uint32_t column) {
  if (!is_scattered(c)) return true;
  const TileGrid grid = output_grid(c);
  const std::uint32_t chunk = chunk_of(c, gpu);
  const std::uint32_t tile = row / grid.tile_rows * grid.tiles_across() + column / grid.tile_columns;
  return tile >= grid.chunk_begin(chunk, c.gpus) && tile < grid.chunk_begin(chunk + 1, c.gpus);
}

TileGrid output_grid(const RunConfiguration& c) { return output_grid(c.workload.gemm, c.system.compute.wavefronts); }

GemmProblem gemm_problem(const RunConfiguration& c) {
  GemmProblem problem;
  problem.gemm = c.workload.gemm;
  problem.wavefronts = c.system.compute.wavefronts;
  problem.slab_depth = c.system.compute.slab_depth;
  problem.gpus = c.gpus;
  problem.operands = c.operands;
  problem.seed = c.seed;
  return problem;
}

}  // namespace t3vp
