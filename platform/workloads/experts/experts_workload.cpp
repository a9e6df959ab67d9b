#include "workloads/experts/experts_workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "protocol/picoseconds.h"
#include "system/system_checks.h"
#include "t3/peer_flags.h"
#include "workloads/collective/collective_operation.h"
#include "workloads/experts/experts_oracle.h"
#include "workloads/registry.h"
#include "workloads/shared/gemm_fill.h"
#include "workloads/shared/room_checks.h"
#include "workloads/shared/tile_choice.h"

namespace t3vp {

using nlohmann::json;

ExpertsWorkload::ExpertsWorkload(const Document& run) : Workload("experts") {
  const json& given = run.content.at("workload").at("experts");
  read_experts(given, experts_, given_);
  gemm_.m = experts_.tokens;
  gemm_.n = experts_.hidden;
  gemm_.k = experts_.inner;
  gemm_.element = static_cast<ElementType>(experts_.element);
  gemm_.tile = {experts_.tile_rows, experts_.tile_columns};
  name(run, shape_text());
}

std::string ExpertsWorkload::shape_text() const {
  return fmt::format("Experts {} x {} x {} {}", gemm_.m, gemm_.n, gemm_.k, name_of(gemm_.element));
}

json ExpertsWorkload::resolved() const { return {{"label", label()}, {"experts", json_of(experts_, given_)}}; }

std::shared_ptr<Workload> ExpertsWorkload::unnamed() const {
  auto other = std::make_shared<ExpertsWorkload>(*this);
  other->name(shape_text());
  return other;
}

std::uint32_t ExpertsWorkload::gpus(const Document& run, bool) const {
  return required_gpus(run, "the GPUs that have experts");
}

Operands ExpertsWorkload::operands(const Document& run) const {
  require_exact_operands(run, "what is multiplied with vectors or by experts are integers");
  return Operands::exact;
}

/// Of the fused product: as many on a compute unit as of the system's own tile, or the share that the run file says of
/// a GEMM's workgroups that run at once, by its kernel's plan; at most one for each tile.
std::uint32_t ExpertsWorkload::persistent_workgroups(const Document& run, const RunSettings& settings) const {
  const compute::ComputeParameters& p = settings.system.compute;
  const auto elements = static_cast<std::uint32_t>(gemm_.tile.elements());
  const std::uint32_t smaller = std::max(p.tile_rows * p.tile_columns / elements, 1u);
  const std::uint32_t held = p.register_bytes / (elements * std::uint32_t{sizeof(float)});
  const std::uint32_t fit = p.compute_units * std::min(p.workgroups_per_cu * smaller, held);
  const std::uint32_t usual = p.compute_units * std::min(p.workgroups_per_cu, held);
  const auto wanted = given_.occupancy == 0 ? usual : static_cast<std::uint32_t>(fit * given_.occupancy + 1e-6);
  if (wanted == 0)
    run.reject("/workload/experts/occupancy", fmt::format("a share from {:.4g}, one workgroup", 1.0 / fit));
  return std::min(wanted, output_grid(gemm_, p.wavefronts).workgroups());
}

void ExpertsWorkload::complete(const Document& run, const Document&, const RunSettings& settings) {
  if (gemm_.tile.elements() != 0)
    check_explicit_tile(run, "/workload/experts/tile", settings.system, gemm_.tile);
  else
    gemm_.tile = choose_tile(settings.system, gemm_);
  experts_.tile_rows = gemm_.tile.rows;
  experts_.tile_columns = gemm_.tile.columns;
  experts_.wavefronts = settings.system.compute.wavefronts;
  experts_.workgroups = persistent_workgroups(run, settings);
}

std::vector<CollectiveUse> ExpertsWorkload::collective_uses(const RunSettings& settings) const {
  return {{"all_to_all", settings.method == "fused" ? "fused direct" : "direct"}};
}

void ExpertsWorkload::check_links(const Document& system, const RunSettings& settings, bool join_all) const {
  if (!join_all)
    reject_separate_gpus(system, settings, "GEMM",
                         gpus_of_separate_node(settings) == 0
                             ? ""
                             : ", or, by NICs, method sequential, or t3 and t3-mca with fused "
                               "hierarchical-reduce-scatter");
}

void ExpertsWorkload::check(const Document& run, const Document&, const RunSettings& settings) const {
  if (settings.method != "bulk" && settings.method != "fused")
    run.reject("/method", "bulk or fused, or nothing, for experts");
  if (settings.mirror)
    run.reject("/simulate",
               "all: no mirror stands for this workload's GPUs, only for a GEMM's ring or the GPUs of a torus");
  if (experts_.tokens < settings.gpus)
    run.reject("/workload/experts/tokens", fmt::format("at least {}, a token for each GPU", settings.gpus));
  const std::uint64_t tiles = output_grid(gemm_, settings.system.compute.wavefronts).workgroups();
  if (tiles >= no_workgroup)
    run.reject("/workload", fmt::format("a product of {} tiles", tiles), fmt::format("at most {}", no_workgroup - 1));
  require_room(run, settings, buffers(settings, 0), "operands and results");
}

PackedWorkload ExpertsWorkload::packed_for(const RunSettings& settings) const {
  t3_experts experts = experts_;
  experts.fused = settings.method == "fused";
  return packed(experts);
}

std::vector<Buffer> ExpertsWorkload::buffers(const RunSettings& settings, std::uint32_t gpu) const {
  const GemmProblem problem = gemm_problem(gemm_, settings);
  const ExpertsOracle oracle(problem);
  Buffer out{"out", t3_experts_out_bytes(&experts_, 0, settings.gpus),
             t3_experts_tokens(&experts_, gpu, settings.gpus) * settings.gpus, gemm_.n, gemm_.element};
  out.expected = [oracle, gpu, type = gemm_.element](std::uint32_t row) {
    return rounded(oracle.received(gpu, row), type);
  };
  std::vector<Buffer> all{buffer_a(problem, gpu), buffer_b(problem, gpu), out};
  if (settings.method == "fused")
    all.push_back({"ready", t3_all_peer_flag_bytes(settings.gpus, experts_.workgroups, 1)});
  else
    all.push_back({"product", matrix_bytes(gemm_.m, gemm_.n, gemm_.element)});
  return all;
}

LowerBounds ExpertsWorkload::lower_bounds(const RunSettings&, std::uint32_t, const GpuParameters& gpu) const {
  return gemm_bounds(gemm_, gpu.compute);
}

/// Returns the least time of what each GPU sends to each owner of tokens, without the padding of rows.
double ExpertsWorkload::least_link_ns(const RunSettings& settings) const {
  std::vector<std::uint64_t> chunks;
  for (std::uint32_t gpu = 0; gpu < settings.gpus; ++gpu)
    chunks.push_back(std::uint64_t{t3_experts_tokens(&experts_, gpu, settings.gpus)} * experts_.hidden *
                     t3_element_bytes(experts_.element));
  return t3vp::least_link_ns(T3_ALL_TO_ALL, chunks, whole_fabric_of(settings));
}

HostNeed ExpertsWorkload::host_need(const RunSettings&) const { return gemm_host_need(gemm_); }

double ExpertsWorkload::weight(const RunSettings& settings) const { return gemm_weight(gemm_, settings); }

extern const WorkloadKind experts_kind;
const WorkloadKind experts_kind{
    "experts",
    {{"experts", "experts", "there are no experts"}},
    {"a", "b", "out"},
    {{"all_to_all", "all-to-all", "total", true}},
    {{"experts", {{"tokens", 1}, {"hidden", 1}, {"inner", 1}}}},
    [](const Document& run) -> std::shared_ptr<Workload> { return std::make_shared<ExpertsWorkload>(run); }};

}  // namespace t3vp
