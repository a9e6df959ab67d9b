#include "workloads/moe/moe_workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "protocol/picoseconds.h"
#include "system/system_checks.h"
#include "t3/shmem.h"
#include "workloads/registry.h"
#include "workloads/shared/gemm_fill.h"
#include "workloads/shared/link_bound.h"
#include "workloads/shared/room_checks.h"
#include "workloads/shared/tile_choice.h"

namespace t3vp {
namespace {

using nlohmann::json;

bool is_tracked(const RunSettings& settings) { return settings.method == "t3" || settings.method == "t3-mca"; }

/// Tokens go one way, results the other.
class MoeDemand : public LinkDemand {
 public:
  MoeDemand(const MoeRouting& routing, std::uint32_t gpus, std::uint64_t token_bytes, std::uint64_t result_bytes)
      : routing_(routing), gpus_(gpus), token_bytes_(token_bytes), result_bytes_(result_bytes) {}

  double entering(const ChunkBytes&, const GpuPart& part) const override {
    return sum([&](std::uint32_t from, std::uint32_t to) { return !part.has[from] && part.has[to] ? 1 : 0; });
  }
  double carried(const ChunkBytes&, const Hops& hops) const override { return sum(hops); }
  bool is_eased_by_switch() const override { return false; }

 private:
  template <typename Times>
  double sum(const Times& times) const {
    double all = 0;
    for (std::uint32_t from = 0; from < gpus_; ++from)
      for (std::uint32_t to = 0; to < gpus_; ++to)
        all +=
            static_cast<double>(times(from, to)) * static_cast<double>(routing_.rows_between(from, to) * token_bytes_ +
                                                                       routing_.rows_between(to, from) * result_bytes_);
    return all;
  }

  const MoeRouting& routing_;
  std::uint32_t gpus_;
  std::uint64_t token_bytes_, result_bytes_;
};

}  // namespace

MoeWorkload::MoeWorkload(const Document& run) : Workload("moe") {
  read_moe(run.content.at("workload").at("moe"), moe_, given_);
  if (moe_.inner == 0) moe_.inner = moe_.hidden;
  gemm_.element = static_cast<ElementType>(moe_.element);
  gemm_.tile = {moe_.tile_rows, moe_.tile_columns};
  gemm_.k = moe_.inner;
  name(run, shape_text());
}

std::string MoeWorkload::shape_text() const {
  return fmt::format("MoE {} tokens, {} of {} experts, {} x {} {}", moe_.tokens, moe_.top_k, moe_.experts, moe_.inner,
                     moe_.hidden, name_of(gemm_.element));
}

/// What is not given has no number.
json MoeWorkload::resolved() const {
  json moe = json_of(moe_, given_);
  if (given_.capacity == 0) moe.erase("capacity");
  if (moe_.communication_units == 0) moe.erase("communication_units");
  return {{"label", label()}, {"moe", moe}};
}

std::shared_ptr<Workload> MoeWorkload::unnamed() const {
  auto other = std::make_shared<MoeWorkload>(*this);
  other->name(shape_text());
  return other;
}

std::uint32_t MoeWorkload::gpus(const Document& run, bool) const {
  return required_gpus(run, "the GPUs that have experts");
}

Operands MoeWorkload::operands(const Document& run) const {
  require_exact_operands(run, "what experts multiply are integers");
  return Operands::exact;
}

std::uint32_t MoeWorkload::slots(std::uint32_t tokens) const {
  if (given_.capacity == 0) return tokens;
  const double mean = double{1} * tokens * moe_.top_k / moe_.experts;
  return static_cast<std::uint32_t>(std::clamp(std::ceil(given_.capacity * mean - 1e-9), 1.0, double{1} * tokens));
}

/// By the GEMM's plan (firmware/kernels/gemm/product.h).
std::uint32_t MoeWorkload::resident_workgroups(const RunSettings& settings) const {
  const compute::ComputeParameters& p = settings.system.compute;
  const std::uint32_t units =
      p.compute_units - (settings.method == "deepep" ? std::min(moe_.communication_units, p.compute_units) : 0);
  const auto elements = static_cast<std::uint32_t>(gemm_.tile.elements());
  const std::uint32_t smaller = std::max(p.tile_rows * p.tile_columns / elements, 1u);
  const std::uint32_t held = p.register_bytes / (elements * std::uint32_t{sizeof(float)});
  return std::max(units * std::min(p.workgroups_per_cu * smaller, held), 1u);
}

void MoeWorkload::complete(const Document& run, const Document&, const RunSettings& settings) {
  const std::uint32_t local = std::max(moe_.experts / settings.gpus, 1u);
  const double mean = double{1} * settings.gpus * moe_.tokens * moe_.top_k / moe_.experts;
  gemm_.m = static_cast<std::uint32_t>(std::max(std::ceil(mean), 1.0));
  gemm_.n = moe_.hidden * local;
  if (gemm_.tile.elements() != 0)
    check_explicit_tile(run, "/workload/moe/tile", settings.system, gemm_.tile);
  else
    gemm_.tile = choose_tile(settings.system, gemm_);
  moe_.tile_rows = gemm_.tile.rows;
  moe_.tile_columns = gemm_.tile.columns;
  moe_.wavefronts = settings.system.compute.wavefronts;
  moe_.compute_units = settings.system.compute.compute_units;
  if (moe_.communication_units == 0 && settings.method == "deepep")
    moe_.communication_units = std::max(moe_.compute_units / 10, 1u);
  moe_.workgroups = resident_workgroups(settings);
  moe_.slots = slots(moe_.tokens);
  moe_.seed = settings.seed;
  moe_.gpus_per_node = gpus_of_separate_node(settings);
  const std::uint32_t movers = std::max(moe_.communication_units * settings.system.kernels.ring.workgroups_per_cu, 1u),
                      most = std::max(T3_SHMEM_QUEUES_MAX / std::max(settings.gpus - 1, 1u), 1u);
  moe_.contexts = std::min(most, movers);
  routing_ = nullptr;
}

const MoeRouting& MoeWorkload::routing(const RunSettings& settings) const {
  if (!routing_) routing_ = std::make_shared<const MoeRouting>(moe_, settings.gpus);
  return *routing_;
}

std::vector<CollectiveUse> MoeWorkload::collective_uses(const RunSettings& settings) const {
  const char* const how = moe_.gpus_per_node != 0     ? "stores and NICs"
                          : settings.method == "bulk" ? "direct"
                          : is_tracked(settings)      ? "tracked stores"
                                                      : "stores";
  return {{"dispatch", how}, {"combine", is_tracked(settings) ? "tracked updates" : how}};
}

LargestStore MoeWorkload::largest_store(const RunSettings& settings) const {
  return {settings.system.kernels.ring.block_bytes, "a block of kernels.ring.block_bytes"};
}

PackedWorkload MoeWorkload::packed_for(const RunSettings& settings) const {
  t3_moe moe = moe_;
  moe.mechanism = value_of(json(settings.method), moe_mechanism_words);
  return packed(moe);
}

std::vector<Buffer> MoeWorkload::buffers(const RunSettings& settings, std::uint32_t gpu) const {
  const auto oracle = std::make_shared<MoeOracle>(moe_, settings.gpus, settings.system.compute.slab_depth);
  const std::uint32_t weight_rows = moe_.experts / settings.gpus * moe_.inner;
  Buffer tokens{"tokens", matrix_bytes(moe_.tokens, moe_.inner, gemm_.element), moe_.tokens, moe_.inner, gemm_.element};
  tokens.fill = [oracle, gpu](std::uint32_t row) { return oracle->token(gpu, row); };
  Buffer weights{"weights", matrix_bytes(weight_rows, moe_.hidden, gemm_.element), weight_rows, moe_.hidden,
                 gemm_.element};
  weights.fill = [oracle, gpu](std::uint32_t row) { return oracle->weights_row(gpu, row); };
  Buffer out{"out", matrix_bytes(moe_.tokens, moe_.hidden, gemm_.element), moe_.tokens, moe_.hidden, gemm_.element};
  routing(settings);
  out.expected = [oracle, routing = routing_, gpu](std::uint32_t row) { return oracle->out(*routing, gpu, row); };
  const std::uint64_t slots = t3_moe_slots(&moe_), results = std::uint64_t{moe_.tokens} * moe_.top_k;
  std::vector<Buffer> all{tokens, {"slots", slots * t3_moe_token_bytes(&moe_)}, weights, out};
  all.push_back({"control", t3_moe_control_of(&moe_, settings.gpus).bytes});
  if (is_tracked(settings)) {
    all.push_back({"spilled", (slots + t3_divide_up(moe_.tokens, T3_MOE_TRACKED_ROWS)) * spill_entry_bytes});
    return all;
  }
  all.push_back({"products", slots * t3_moe_result_bytes(&moe_)});
  all.push_back({"results", results * t3_moe_result_bytes(&moe_)});
  return all;
}

std::uint64_t MoeWorkload::tiles_of(const MoeRouting& routing, const RunSettings& settings, std::uint32_t gpu) const {
  const std::uint32_t local = moe_.experts / settings.gpus;
  std::uint64_t tiles = 0;
  for (std::uint32_t expert = gpu * local; expert < (gpu + 1) * local; ++expert)
    tiles += (routing.rows_of_expert(expert) + moe_.tile_rows - 1) / moe_.tile_rows *
             t3_divide_up(moe_.hidden, moe_.tile_columns);
  return tiles;
}

LowerBounds MoeWorkload::lower_bounds(const RunSettings& settings, std::uint32_t gpu, const GpuParameters& p) const {
  const MoeRouting& drawn = routing(settings);
  double rows = 0;
  for (std::uint32_t from = 0; from < settings.gpus; ++from) rows += static_cast<double>(drawn.rows_between(from, gpu));
  const auto tiles = static_cast<std::uint32_t>(tiles_of(drawn, settings, gpu));
  LowerBounds bounds;
  bounds.compute_ns = 2.0 * rows * moe_.hidden * moe_.inner / matrix_rate(p.compute);
  bounds.compute_quantized_ns =
      to_ns(quantized_compute_time(p.compute, gemm_.tile, tiles * gemm_.tile.rows, gemm_.tile.columns, moe_.inner, 1));
  return bounds;
}

double MoeWorkload::least_link_ns(const RunSettings& settings) const {
  const std::uint64_t element = bytes_of(gemm_.element);
  if (moe_.gpus_per_node != 0) return least_nic_ns(settings);
  const MoeDemand demand(routing(settings), settings.gpus, moe_.inner * element, moe_.hidden * element);
  return t3vp::least_link_ns(demand, std::vector<std::uint64_t>(settings.gpus, 0), whole_fabric_of(settings));
}

/// What crosses the end of the NIC fabric that carries most in one direction.
double MoeWorkload::least_nic_ns(const RunSettings& settings) const {
  const MoeRouting& drawn = routing(settings);
  const std::uint64_t element = bytes_of(gemm_.element);
  std::uint64_t most = 0;
  for (std::uint32_t gpu = 0; gpu < settings.gpus; ++gpu) {
    std::uint64_t sent = 0, received = 0;
    for (std::uint32_t other = 0; other < settings.gpus; ++other) {
      if (!t3_moe_is_far(&moe_, gpu, other)) continue;
      const std::uint64_t there = drawn.rows_between(gpu, other), back = drawn.rows_between(other, gpu);
      sent += (there * moe_.inner + back * moe_.hidden) * element;
      received += (back * moe_.inner + there * moe_.hidden) * element;
    }
    most = std::max({most, sent, received});
  }
  return static_cast<double>(most) / settings.system.wire.GBps;
}

std::vector<WorkStatistic> MoeWorkload::statistics(const RunSettings& settings) const {
  const MoeRouting& drawn = routing(settings);
  std::uint64_t most = 0, without = 0;
  for (std::uint32_t expert = 0; expert < moe_.experts; ++expert) {
    most = std::max(most, drawn.rows_of_expert(expert));
    if (drawn.rows_of_expert(expert) == 0) ++without;
  }
  return {{"routing.choices", "rows", "choices of all tokens", static_cast<double>(drawn.choices())},
          {"routing.dropped", "rows", "choices beyond their experts' capacity", static_cast<double>(drawn.dropped())},
          {"routing.most", "rows", "rows of the expert that has most", static_cast<double>(most)},
          {"routing.idle_experts", "experts", "experts without rows", static_cast<double>(without)}};
}

HostNeed MoeWorkload::host_need(const RunSettings& settings) const {
  HostNeed need;
  need.checked = double{1} * moe_.tokens * (moe_.hidden + moe_.inner) + double{1} * moe_.experts * moe_.inner;
  need.tile = gemm_.tile;
  need.most_workgroups = resident_workgroups(settings);
  return need;
}

double MoeWorkload::weight(const RunSettings& settings) const { return gemm_weight(gemm_, settings) * moe_.top_k; }

extern const WorkloadKind moe_kind;
const WorkloadKind moe_kind{
    "moe",
    {{"moe", "a layer of experts", "there is no layer of experts"}},
    {"tokens", "weights", "out"},
    {{"counts", "numbers of rows", "total", true},
     {"dispatch", "dispatch of tokens", "total", true},
     {"combine", "combine of results", "total", true},
     {"sum", "sum of results"},
     {"mapping", "maps and gates"},
     {"layer", "dispatch, GEMM and combine"}},
    {{"moe", {{"tokens", 1}, {"hidden", 1}, {"experts", 1}}}},
    [](const Document& run) -> std::shared_ptr<Workload> { return std::make_shared<MoeWorkload>(run); }};

}  // namespace t3vp
