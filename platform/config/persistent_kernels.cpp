#include "config/persistent_kernels.h"

#include <fmt/format.h>

#include <algorithm>

#include "t3/shmem.h"

namespace t3vp {
namespace {

using nlohmann::json;

/// Of the fused kernel: the share of a pooling kernel's that the run file says, or as many as its registers allow.
std::uint32_t persistent_workgroups(const Document& run, const RunConfiguration& c) {
  const compute::ComputeParameters& p = c.system.compute;
  const std::uint32_t fit =
      p.register_bytes / t3_fused_pooling_registers(p.register_bytes, p.gather_workgroups_per_cu) * p.compute_units;
  const double all = double{1} * p.gather_workgroups_per_cu * p.compute_units;
  if (c.workload.occupancy == 0) return fit;
  const auto wanted = static_cast<std::uint32_t>(all * c.workload.occupancy + 1e-6);
  if (wanted == 0 || wanted > fit)
    run.reject("/workload/embedding/occupancy",
               fmt::format("a share from {:.4g}, one workgroup, to {:.4g}, what registers allow", 1 / all, fit / all));
  return wanted;
}

/// Contexts of a kernel that posts have a queue pair to each other GPU.
void check_contexts(const Document& run, const RunConfiguration& c) {
  const std::uint32_t most = T3_SHMEM_QUEUES_MAX / std::max(c.gpus - 1, 1u);
  if (c.workload.embedding->contexts > most)
    run.reject("/workload/embedding/contexts",
               fmt::format("up to {}, since a NIC has {} queue pairs with completion queues and each context takes one "
                           "for each other GPU",
                           most, +T3_SHMEM_QUEUES_MAX));
}

/// Of the fused product of experts: as many on a compute unit as of the system's own tile, or the share that the run
/// file says of a GEMM's workgroups that run at once, by its kernel's plan; at most one for each tile.
std::uint32_t persistent_tiles(const Document& run, const RunConfiguration& c) {
  const compute::ComputeParameters& p = c.system.compute;
  const auto elements = static_cast<std::uint32_t>(c.workload.gemm.tile.elements());
  const std::uint32_t smaller = std::max(p.tile_rows * p.tile_columns / elements, 1u);
  const std::uint32_t held = p.register_bytes / (elements * std::uint32_t{sizeof(float)});
  const std::uint32_t fit = p.compute_units * std::min(p.workgroups_per_cu * smaller, held);
  const std::uint32_t usual = p.compute_units * std::min(p.workgroups_per_cu, held);
  const auto wanted = c.workload.occupancy == 0 ? usual : static_cast<std::uint32_t>(fit * c.workload.occupancy + 1e-6);
  if (wanted == 0)
    run.reject("/workload/experts/occupancy", fmt::format("a share from {:.4g}, one workgroup", 1.0 / fit));
  return std::min(wanted, output_grid(c).workgroups());
}

void complete_embedding(const Document& run, RunConfiguration& c) {
  const Topology& topology = c.system.topology;
  const bool apart = topology.kind == Topology::Kind::nodes && topology.between() == nullptr;
  t3_embedding& e = *c.workload.embedding;
  e.seed = c.seed;
  e.workgroups = persistent_workgroups(run, c);
  e.gpus_per_node = apart && topology.gpus_per_node < c.gpus ? topology.gpus_per_node : 0;
  if (topology.channels_by_distance) e.gpus_per_row = topology.dimensions[0];
  check_contexts(run, c);
}

}  // namespace

void complete_persistent_kernels(const Document& run, RunConfiguration& c) {
  if (c.workload.embedding) complete_embedding(run, c);
  if (c.workload.gemv)
    c.workload.gemv->workgroups = c.system.compute.row_workgroups_per_cu * c.system.compute.compute_units;
  if (c.workload.experts) c.workload.experts->workgroups = persistent_tiles(run, c);
}

json resolved_embedding(const Workload& w) {
  const t3_embedding& e = *w.embedding;
  const json drawn = {{"drawn", e.pooling}};
  return {{"label", w.label},
          {"embedding",
           {{"global_batch", e.global_batch},
            {"tables_per_gpu", e.tables_per_gpu},
            {"dimension", e.dimension},
            {"pooling", e.drawn ? drawn : json(e.pooling)},
            {"rows", e.rows},
            {"element", name_of(w.gemm.element)},
            {"result", e.mean ? "mean" : "sum"},
            {"slice", e.slice},
            {"occupancy", w.occupancy},
            {"contexts", e.contexts},
            {"order", e.oblivious ? "oblivious" : "aware"}}}};
}

}  // namespace t3vp
