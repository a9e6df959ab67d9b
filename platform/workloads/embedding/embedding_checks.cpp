// Values that depend on the system, and the checks of a run.
#include <fmt/format.h>

#include <algorithm>

#include "t3/shmem.h"
#include "workloads/embedding/embedding_oracle.h"
#include "workloads/embedding/embedding_workload.h"
#include "workloads/shared/gemm_shape.h"
#include "workloads/shared/room_checks.h"
#include "workloads/shared/tile_choice.h"

namespace t3vp {

/// A bag's loads wait for each other: where it begins, numbers, then rows. Its result leaves, and is counted.
PoolingTimes EmbeddingWorkload::pooling_times(const RunSettings& settings) const {
  const GpuParameters& gpu = settings.system;
  const std::uint32_t at_once = gpu.kernels.embedding.rows_in_flight;
  const std::uint32_t accesses = 2 + (embedding_.pooling + at_once - 1) / at_once + 2;
  return {accesses * load_latency_ns(gpu.cache, gpu.memory),
          static_cast<double>(pooling_need(embedding_, 0).read_bytes) / dram_rate(gpu),
          embedding_.gpus_per_node != 0 ? least_nic_ns(settings) : least_fabric_ns(settings)};
}

/// As many as registers allow would all end together where each has a bag, with no link in use before. In a training
/// pass they run beside other kernels.
std::uint32_t EmbeddingWorkload::worthwhile_workgroups(std::uint32_t fit, const RunSettings& settings) const {
  const std::uint64_t busy = t3_pooling_busy_workgroups(&embedding_);
  if (dlrm_ || fit == 0 || settings.gpus == 1 || !pools_fused(settings.method))
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(fit, busy));
  const std::uint64_t turns = pooling_turns((busy + fit - 1) / fit, pooling_times(settings));
  return static_cast<std::uint32_t>((busy + turns - 1) / turns);
}

/// The share of a pooling kernel's workgroups that the run file says, or as many as registers allow. In a training pass
/// an all-reduce runs beside it: where only one of both had room, GPUs might begin with different ones and wait for
/// each other.
std::uint32_t EmbeddingWorkload::persistent_workgroups(const Document& run, const RunSettings& settings) const {
  const compute::ComputeParameters& p = settings.system.compute;
  const std::uint64_t all_reduce =
      t3_collective_registers(settings.system.kernels.ring.block_bytes, settings.system.kernels.ring.blocks_in_flight);
  const std::uint64_t taken =
      dlrm_ ? std::min<std::uint64_t>(all_reduce * settings.system.kernels.ring.workgroups_per_cu, p.register_bytes)
            : 0;
  const std::uint32_t left = p.register_bytes - static_cast<std::uint32_t>(taken);
  const std::uint32_t each =
      t3_fused_pooling_registers(p.register_bytes, settings.system.kernels.embedding.workgroups_per_cu);
  const std::uint32_t fit = left / each * p.compute_units;
  const double all = double{1} * settings.system.kernels.embedding.workgroups_per_cu * p.compute_units;
  if (fit == 0 && pools_fused(settings.method))
    run.reject("/method", fmt::format("bulk, since a persistent workgroup takes {} bytes of registers and a compute "
                                      "unit has room for {}",
                                      each, left));
  if (given_.occupancy == 0 || fit == 0) return worthwhile_workgroups(fit, settings);
  const auto wanted = static_cast<std::uint32_t>(all * given_.occupancy + 1e-6);
  if (wanted == 0 || wanted > fit)
    run.reject("/workload/embedding/occupancy",
               fmt::format("a share from {:.4g}, one workgroup, to {:.4g}, what registers allow", 1 / all, fit / all));
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, t3_pooling_busy_workgroups(&embedding_)));
}

/// Contexts of a kernel that posts have a queue pair to each other GPU.
void EmbeddingWorkload::check_contexts(const Document& run, const RunSettings& settings) const {
  const std::uint32_t most = T3_SHMEM_QUEUES_MAX / std::max(settings.gpus - 1, 1u);
  if (embedding_.contexts > most)
    run.reject("/workload/embedding/contexts",
               fmt::format("up to {}, since a NIC has {} queue pairs with completion queues and each context takes one "
                           "for each other GPU",
                           most, +T3_SHMEM_QUEUES_MAX));
}

void EmbeddingWorkload::complete(const Document& run, const Document&, const RunSettings& settings) {
  const Topology& topology = settings.system.topology;
  embedding_.seed = settings.seed;
  embedding_.gpus_per_node = gpus_of_separate_node(settings);
  if (topology.channels_by_distance && !topology.dimensions.empty()) embedding_.gpus_per_row = topology.dimensions[0];
  embedding_.workgroups = persistent_workgroups(run, settings);
  check_contexts(run, settings);
  if (dlrm_) complete_perceptrons(settings);
}

void EmbeddingWorkload::complete_perceptrons(const RunSettings& settings) {
  const std::uint32_t samples = t3_embedding_samples(&embedding_, 0, settings.gpus);
  const auto tiling = [&](std::uint32_t rows, std::uint32_t depth) {
    GemmShape gemm;
    gemm.m = rows;
    gemm.n = dlrm_->width;
    gemm.k = depth;
    gemm.element = element();
    return choose_tile(settings.system, gemm);
  };
  const TileShape tile = tiling(samples, dlrm_->width), gradient_tile = tiling(dlrm_->width, samples);
  dlrm_->tile_rows = tile.rows;
  dlrm_->tile_columns = tile.columns;
  dlrm_->gradient_tile_rows = gradient_tile.rows;
  dlrm_->gradient_tile_columns = gradient_tile.columns;
  dlrm_->wavefronts = settings.system.compute.wavefronts;
  const std::vector<std::uint32_t>& dimensions = settings.system.topology.dimensions;
  std::copy(dimensions.begin(), dimensions.end(), dlrm_->dimensions);
}

std::vector<CollectiveUse> EmbeddingWorkload::collective_uses(const RunSettings& settings) const {
  if (settings.gpus < 2) return {};
  if (settings.method == "zero-copy") return {{"all_to_all", "stores to the owners"}};
  const char* const apart = embedding_.gpus_per_node != 0 ? "direct by hosts" : "direct";
  const char* const fused = "fused direct";
  std::vector<CollectiveUse> uses{{"all_to_all", pools_fused(settings.method) ? fused : apart}};
  if (!dlrm_) return uses;
  uses.push_back({"all_to_all_back", settings.method == "fused-backward" ? fused : apart});
  uses.push_back({"all_reduce", dlrm_->dimensions[0] != 0 ? "torus-rings" : "direct"});
  return uses;
}

void EmbeddingWorkload::check_links(const Document& system, const RunSettings& settings, bool join_all) const {
  if (!join_all && settings.method == "zero-copy") reject_separate_gpus(system, settings, "method zero-copy");
}

LargestStore EmbeddingWorkload::largest_store(const RunSettings& settings) const {
  return {std::max<std::uint64_t>(settings.system.kernels.ring.block_bytes, t3_embedding_row_bytes(&embedding_)),
          "a block of kernels.ring.block_bytes or a row of a table"};
}

/// What goes by samples' numbers goes to the same owner from all GPUs at once.
void EmbeddingWorkload::check_mirrored(const Document& run, const RunSettings& settings) const {
  check_mirrored_torus(run, settings, embedding_.global_batch, "samples");
  if (settings.method == "zero-copy")
    run.reject("/simulate", "all with method zero-copy: its GPUs store to the first owners first, whoever they are");
  if (pools_fused(settings.method) && embedding_.oblivious)
    run.reject("/simulate", "all with order oblivious: GPUs store to the first owners first, whoever they are");
}

void EmbeddingWorkload::check_pass(const Document& run, const Document& system, const RunSettings& settings) const {
  if (settings.method != "bulk" && !pools_fused(settings.method))
    run.reject("/method", "bulk, fused or fused-backward, or nothing, for a training pass");
  const t3_embedding& e = embedding_;
  if (settings.functional && e.mean && (e.drawn || (e.pooling & (e.pooling - 1)) != 0))
    run.reject(
        "/workload/embedding/result",
        "sum beside mlp with data functional, or a power of two of rows in each bag: gradients are rounded else");
  if (e.gpus_per_node != 0)
    system.reject("/links/topology", "links between all GPUs, which a training pass (mlp) needs");
  check_collective_registers(system, settings);
}

void EmbeddingWorkload::check(const Document& run, const Document& system, const RunSettings& settings) const {
  const t3_embedding& e = embedding_;
  const std::string& method = settings.method;
  if (dlrm_) check_pass(run, system, settings);
  if (!dlrm_ && method != "bulk" && method != "zero-copy" && method != "fused")
    run.reject("/method", "bulk, zero-copy or fused, or nothing, for embedding tables");
  if (settings.mirror) check_mirrored(run, settings);
  if (e.global_batch < settings.gpus)
    run.reject("/workload/embedding/global_batch", fmt::format("at least {}, a sample for each GPU", settings.gpus));
  constexpr std::uint32_t most_by_nic = 16;  // that a symmetric heap joins
  if (e.gpus_per_node != 0 && !settings.system.nic)
    system.reject("/nic", "nothing", "NICs, since links do not join all GPUs");
  if (e.gpus_per_node != 0 && settings.gpus > most_by_nic)
    run.reject("/gpus", fmt::format("at most {}, since links do not join all GPUs", most_by_nic));
  constexpr std::uint64_t most_columns = 1 << 30;
  const std::uint64_t columns = std::uint64_t{settings.gpus} * e.tables_per_gpu * e.dimension;
  if (columns > most_columns)
    run.reject("/workload/embedding/tables_per_gpu", fmt::format("{} elements of a sample's results", columns),
               fmt::format("at most {}", most_columns));
  require_room(run, settings, buffers(settings, 0),
               dlrm_ ? "tables, the numbers of their rows, results, weights and what layers of mlp give"
                     : "tables, the numbers of their rows and results");
}

}  // namespace t3vp
