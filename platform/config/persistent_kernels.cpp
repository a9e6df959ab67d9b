#include "config/persistent_kernels.h"

#include <fmt/format.h>

#include <algorithm>

#include "t3/shmem.h"
#include "workload/tile_choice.h"

namespace t3vp {
namespace {

using nlohmann::json;

/// In a training pass an all-reduce runs beside it: where only one of both had room, GPUs might begin with different
/// ones and wait for each other.
std::uint32_t registers_of_others(const RunConfiguration& c) {
  const compute::ComputeParameters& p = c.system.compute;
  if (!c.workload.dlrm) return 0;
  const t3_ring_parameters& ring = c.system.kernels.ring;
  const std::uint64_t taken = t3_collective_registers(ring.block_bytes, ring.blocks_in_flight);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(taken * ring.workgroups_per_cu, p.register_bytes));
}

/// Of the fused kernel: the share of a pooling kernel's that the run file says, or as many as its registers allow.
std::uint32_t persistent_workgroups(const Document& run, const RunConfiguration& c) {
  const compute::ComputeParameters& p = c.system.compute;
  const std::uint32_t fit = (p.register_bytes - registers_of_others(c)) /
                            t3_fused_pooling_registers(p.register_bytes, c.system.kernels.embedding.workgroups_per_cu) *
                            p.compute_units;
  const double all = double{1} * c.system.kernels.embedding.workgroups_per_cu * p.compute_units;
  if (fit == 0 && pools_fused(c.method))
    run.reject("/method",
               fmt::format("bulk, since a persistent workgroup takes {} bytes of registers and a compute unit "
                           "has room for {}",
                           t3_fused_pooling_registers(p.register_bytes, c.system.kernels.embedding.workgroups_per_cu),
                           p.register_bytes - registers_of_others(c)));
  if (c.workload.occupancy == 0 || fit == 0) return fit;
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

void complete_dlrm(RunConfiguration& c) {
  t3_dlrm& d = *c.workload.dlrm;
  const std::uint32_t samples = t3_embedding_samples(&*c.workload.embedding, 0, c.gpus);
  const auto tiling = [&](std::uint32_t rows, std::uint32_t depth) {
    GemmShape gemm;
    gemm.m = rows;
    gemm.n = d.width;
    gemm.k = depth;
    gemm.element = c.workload.gemm.element;
    const TileShape tile = choose_tile(c.system, gemm);
    return t3_tiling{tile.rows, tile.columns, c.system.compute.wavefronts};
  };
  d.tiling = tiling(samples, d.width);
  d.gradient_tiling = tiling(d.width, samples);
  std::copy(c.system.topology.dimensions.begin(), c.system.topology.dimensions.end(), d.dimensions);
}

}  // namespace

void complete_persistent_kernels(const Document& run, RunConfiguration& c) {
  if (c.workload.embedding) complete_embedding(run, c);
  if (c.workload.dlrm) complete_dlrm(c);
  if (c.workload.gemv)
    c.workload.gemv->workgroups = c.system.kernels.rows.workgroups_per_cu * c.system.compute.compute_units;
  if (c.workload.experts) c.workload.experts->workgroups = persistent_tiles(run, c);
}

json resolved_embedding(const Workload& w) {
  const t3_embedding& e = *w.embedding;
  const json drawn = {{"drawn", e.pooling}};
  json resolved = {{"label", w.label},
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
  if (w.dlrm)
    resolved["mlp"] = {{"bottom_layers", w.dlrm->bottom_layers},
                       {"top_layers", w.dlrm->top_layers},
                       {"width", w.dlrm->width},
                       {"bucket_MiB", static_cast<double>(w.dlrm->bucket_bytes) / (1 << 20)}};
  return resolved;
}

}  // namespace t3vp
