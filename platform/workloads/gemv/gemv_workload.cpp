#include "workloads/gemv/gemv_workload.h"

#include <fmt/format.h>

#include <algorithm>

#include "t3/collective_staging.h"
#include "workloads/collective/collective_operation.h"
#include "workloads/gemv/gemv_oracle.h"
#include "workloads/gemv_arguments.h"
#include "workloads/registry.h"
#include "workloads/shared/room_checks.h"

namespace t3vp {
namespace {

using nlohmann::json;

/// Every GPU has a vector of results, of which all want the sum.
t3_collective all_reduce_of(const t3_gemv& g) {
  return {T3_ALL_REDUCE, T3_DIRECT, g.element, g.rows, 0, 0, {}, {}, {}};
}

}  // namespace

GemvWorkload::GemvWorkload(const Document& run) : Workload("gemv") {
  constexpr std::uint32_t access_bytes = 32;  // a slice's results fill a DRAM access
  const json& given = run.content.at("workload").at("gemv");
  read_gemv(given, gemv_);
  if (gemv_.slice == 0) gemv_.slice = std::min(access_bytes / t3_element_bytes(gemv_.element), gemv_.rows);
  if (gemv_.slice > gemv_.rows)
    run.reject("/workload/gemv/slice", fmt::format("at most {}, the matrix's rows", gemv_.rows));
  name(run, shape_text());
}

std::string GemvWorkload::shape_text() const {
  return fmt::format("GEMV {} x {} {}", gemv_.rows, gemv_.columns, name_of(element()));
}

json GemvWorkload::resolved() const { return {{"label", label()}, {"gemv", json_of(gemv_)}}; }

std::shared_ptr<Workload> GemvWorkload::unnamed() const {
  auto other = std::make_shared<GemvWorkload>(*this);
  other->name(shape_text());
  return other;
}

std::uint32_t GemvWorkload::gpus(const Document& run, bool) const {
  return required_gpus(run, "the GPUs whose results are added up");
}

Operands GemvWorkload::operands(const Document& run) const {
  require_exact_operands(run, "what is multiplied with vectors or by experts are integers");
  return Operands::exact;
}

void GemvWorkload::complete(const Document&, const Document&, const RunSettings& settings) {
  const compute::ComputeParameters& compute = settings.system.compute;
  gemv_.workgroups = settings.system.kernels.rows.workgroups_per_cu * compute.compute_units;
}

std::vector<CollectiveUse> GemvWorkload::collective_uses(const RunSettings& settings) const {
  return {{"all_reduce", settings.method == "fused" ? "fused direct" : "direct"}};
}

void GemvWorkload::check_links(const Document& system, const RunSettings& settings, bool join_all) const {
  if (!join_all) reject_separate_gpus(system, settings, "sum of products with vectors");
}

LargestStore GemvWorkload::largest_store(const RunSettings& settings) const {
  const std::uint64_t slice = std::uint64_t{gemv_.slice} * t3_element_bytes(gemv_.element);
  return {std::max<std::uint64_t>(settings.system.kernels.ring.block_bytes, slice),
          "a block of kernels.ring.block_bytes or a slice of results"};
}

void GemvWorkload::check(const Document& run, const Document& system, const RunSettings& settings) const {
  if (settings.method != "bulk" && settings.method != "fused")
    run.reject("/method", "bulk or fused, or nothing, for a matrix times a vector");
  if (settings.mirror)
    run.reject("/simulate",
               "all: no mirror stands for this workload's GPUs, only for a GEMM's ring or the GPUs of a torus");
  if (settings.method == "bulk") check_collective_registers(system, settings);
  require_room(run, settings, buffers(settings, 0), "matrix, vector and results");
}

PackedWorkload GemvWorkload::packed_for(const RunSettings& settings) const {
  t3_gemv gemv = gemv_;
  gemv.fused = settings.method == "fused";
  return packed(gemv);
}

std::vector<Buffer> GemvWorkload::buffers(const RunSettings& settings, std::uint32_t gpu) const {
  const GemvOracle oracle(gemv_, settings.gpus, settings.seed);
  const ElementType type = element();
  Buffer matrix{"matrix", t3_gemv_matrix_bytes(&gemv_), gemv_.rows, gemv_.columns, type};
  matrix.fill = [oracle, gpu](std::uint32_t row) { return widened(oracle.matrix_row(gpu, row)); };
  Buffer vector{"vector", t3_gemv_vector_bytes(&gemv_), 1, gemv_.columns, type};
  vector.fill = [oracle, gpu](std::uint32_t) { return widened(oracle.vector(gpu)); };
  Buffer out{"out", t3_gemv_out_bytes(&gemv_), 1, gemv_.rows, type};
  out.expected = [oracle, type](std::uint32_t) { return rounded(oracle.sums(), type); };
  std::vector<Buffer> all{matrix, vector, out};
  if (settings.method == "fused") {
    const std::uint32_t workgroups = t3_gemv_workgroups(&gemv_, t3_gemv_slices_owned(&gemv_, settings.gpus));
    all.push_back({"partial", t3_gemv_partial_bytes(&gemv_, settings.gpus)});
    all.push_back({"ready", t3_all_peer_flag_bytes(settings.gpus, workgroups, T3_GEMV_FLAG_KINDS)});
  } else {
    const t3_collective all_reduce = all_reduce_of(gemv_);
    all.push_back({"staging", t3_staging_bytes(&all_reduce, settings.gpus)});
  }
  return all;
}

/// Each element of the matrix is read, whatever the run has read, and multiplied on the vector lanes.
LowerBounds GemvWorkload::lower_bounds(const RunSettings&, std::uint32_t, const GpuParameters& gpu) const {
  const double compute_ns = double{1} * gemv_.rows * gemv_.columns / vector_rate(gpu.compute);
  return {compute_ns, compute_ns, static_cast<double>(t3_gemv_matrix_bytes(&gemv_)) / dram_rate(gpu)};
}

double GemvWorkload::least_link_ns(const RunSettings& settings) const {
  return t3vp::least_link_ns(all_reduce_of(gemv_), whole_fabric_of(settings));
}

HostNeed GemvWorkload::host_need(const RunSettings&) const {
  HostNeed need;
  need.checked = gemv_.rows + double{2} * gemv_.columns;
  return need;
}

double GemvWorkload::weight(const RunSettings& settings) const {
  return settings.gpus * static_cast<double>(t3_gemv_matrix_bytes(&gemv_));
}

extern const WorkloadKind gemv_kind;
const WorkloadKind gemv_kind{
    "gemv",
    {{"gemv", "a matrix times a vector", "there is no gemv"}},
    {"matrix", "vector", "out"},
    {{"gemv", "GEMV"}, {"all_reduce", "all-reduce", "total", true}},
    {{"gemv", {{"rows", 1}, {"columns", 1}, {"slice", 1}}}},
    [](const Document& run) -> std::shared_ptr<Workload> { return std::make_shared<GemvWorkload>(run); }};

}  // namespace t3vp
