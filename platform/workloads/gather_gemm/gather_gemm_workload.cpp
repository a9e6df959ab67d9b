#include "workloads/gather_gemm/gather_gemm_workload.h"

#include <fmt/format.h>

#include <algorithm>

#include "system/system_checks.h"
#include "t3/chunk_progress.h"
#include "workloads/collective/collective_operation.h"
#include "workloads/gather_gemm/gather_gemm_oracle.h"
#include "workloads/registry.h"
#include "workloads/shared/gemm_fill.h"
#include "workloads/shared/room_checks.h"
#include "workloads/shared/tile_choice.h"

namespace t3vp {

using nlohmann::json;

namespace {

bool is_gated(const RunSettings& settings) { return settings.method != "sequential"; }

}  // namespace

GatherGemmWorkload::GatherGemmWorkload(const Document& run) : Workload("gather_gemm") {
  read_gather_gemm(run.content.at("workload").at("gather_gemm"), gathered_);
  gemm_.m = gathered_.m;
  gemm_.n = gathered_.n;
  gemm_.k = gathered_.k;
  gemm_.element = static_cast<ElementType>(gathered_.element);
  gemm_.tile = {gathered_.tile_rows, gathered_.tile_columns};
  name(run, shape_text());
}

std::string GatherGemmWorkload::shape_text() const {
  return fmt::format("All-gather and GEMM {} x {} x {} {}", gemm_.m, gemm_.n, gemm_.k, name_of(gemm_.element));
}

json GatherGemmWorkload::resolved() const { return {{"label", label()}, {"gather_gemm", json_of(gathered_)}}; }

std::shared_ptr<Workload> GatherGemmWorkload::unnamed() const {
  auto other = std::make_shared<GatherGemmWorkload>(*this);
  other->name(shape_text());
  return other;
}

std::uint32_t GatherGemmWorkload::gpus(const Document& run, bool) const {
  return required_gpus(run, "the GPUs that have rows");
}

Operands GatherGemmWorkload::operands(const Document& run) const {
  require_exact_operands(run, "what is gathered and multiplied are integers");
  return Operands::exact;
}

void GatherGemmWorkload::complete(const Document& run, const Document&, const RunSettings& settings) {
  if (gemm_.tile.elements() != 0)
    check_explicit_tile(run, "/workload/gather_gemm/tile", settings.system, gemm_.tile);
  else
    gemm_.tile = choose_tile(settings.system, gemm_);
  gathered_.tile_rows = gemm_.tile.rows;
  gathered_.tile_columns = gemm_.tile.columns;
  gathered_.wavefronts = settings.system.compute.wavefronts;
}

std::vector<CollectiveUse> GatherGemmWorkload::collective_uses(const RunSettings& settings) const {
  if (!is_gated(settings)) return {{"all_gather", "ring"}};
  return {{"all_gather", gathered_.route == T3_GATHER_RING ? "fused ring" : "fused direct"}};
}

void GatherGemmWorkload::check_links(const Document& system, const RunSettings& settings, bool join_all) const {
  if (!join_all) reject_separate_gpus(system, settings, "gather_gemm");
}

/// The counters that release workgroups, and the chunks that a GPU maps.
void GatherGemmWorkload::check_gates(const Document& run, const Document& system, const RunSettings& settings) const {
  const std::uint32_t parts = gathered_.parts, others = settings.gpus - 1, most = T3_CHUNK_SIGNALS / others;
  if (most == 0)
    run.reject("/gpus", fmt::format("at most {} with method {}, a counter for the rows of each other one",
                                    T3_CHUNK_SIGNALS + 1, settings.method));
  if (parts > most)
    run.reject("/workload/gather_gemm/parts",
               fmt::format("at most {} with {} GPUs, which have {} counters for the parts of the others' rows", most,
                           settings.gpus, static_cast<int>(T3_CHUNK_SIGNALS)));
  const std::uint32_t chunks = settings.gpus * parts;
  const std::uint32_t sent = gathered_.route == T3_GATHER_RING ? chunks : 2 * others * parts;
  if (settings.system.tracker.chunks < chunks)
    system.reject("/tracker/chunks", fmt::format("at least {}, the chunks that a GPU maps", chunks));
  if (settings.system.dma.commands < sent)
    system.reject("/dma/commands", fmt::format("at least {}, the chunks and destinations that a GPU maps", sent));
}

void GatherGemmWorkload::check(const Document& run, const Document& system, const RunSettings& settings) const {
  const std::string& method = settings.method;
  if (method != "t3" && method != "t3-mca" && method != "sequential")
    run.reject("/method", "t3, t3-mca or sequential, or nothing, for gather_gemm");
  if (settings.mirror)
    run.reject("/simulate",
               "all: no mirror stands for this workload's GPUs, only for a GEMM's ring or the GPUs of a torus");
  if (!is_gated(settings) && gathered_.route != T3_GATHER_RING)
    run.reject("/workload/gather_gemm/route", "ring, or method t3 or t3-mca");
  if (!is_gated(settings) && gathered_.parts != 1)
    run.reject("/workload/gather_gemm/parts", "1, or method t3 or t3-mca");
  if (output_grid(gemm_, gathered_.wavefronts).workgroups() >= no_workgroup)
    run.reject("/workload", fmt::format("a product of at most {} tiles", no_workgroup - 1));
  require_room(run, settings, buffers(settings, 0), "operands and results");
  if (is_gated(settings)) check_gates(run, system, settings);
}

PackedWorkload GatherGemmWorkload::packed_for(const RunSettings& settings) const {
  t3_gather_gemm gathered = gathered_;
  gathered.gated = is_gated(settings);
  return packed(gathered);
}

std::vector<Buffer> GatherGemmWorkload::buffers(const RunSettings& settings, std::uint32_t gpu) const {
  const auto oracle = std::make_shared<GatherGemmOracle>(gemm_problem(gemm_, settings), gpu);
  const t3_row_groups own = t3_gathered_share(&gathered_, gpu, settings.gpus);
  const std::uint32_t groups = t3_gathered_groups(&gathered_), wavefronts = gathered_.wavefronts;
  const std::uint64_t most = std::uint64_t{t3_divide_up(groups, settings.gpus)} * wavefronts;
  Buffer x{"x", matrix_bytes(most, gemm_.k, gemm_.element), t3_gathered_rows(&gathered_, own), gemm_.k, gemm_.element};
  x.fill = [oracle, first = own.first * wavefronts](std::uint32_t row) { return oracle->row_of_a(first + row); };
  Buffer a{"a", matrix_bytes(gemm_.m, t3_gathered_pitch(&gathered_), gemm_.element), gemm_.m, gemm_.k, gemm_.element};
  a.expected = [oracle](std::uint32_t row) { return oracle->row_of_a(row); };
  Buffer b{"b", matrix_bytes(gemm_.k, gemm_.n, gemm_.element), gemm_.k, gemm_.n, gemm_.element};
  b.fill = [oracle](std::uint32_t row) { return oracle->row_of_b(row); };
  Buffer out{"out", matrix_bytes(gemm_.m, gemm_.n, gemm_.element), gemm_.m, gemm_.n, gemm_.element};
  out.expected = [oracle](std::uint32_t row) { return oracle->row_of_out(row); };
  std::vector<Buffer> all{x, a, b, out};
  if (is_gated(settings))
    all.push_back(
        {"spilled", std::uint64_t{groups} * t3_gathered_tiles_across(&gathered_) * wavefronts * spill_entry_bytes});
  return all;
}

LowerBounds GatherGemmWorkload::lower_bounds(const RunSettings&, std::uint32_t, const GpuParameters& gpu) const {
  return gemm_bounds(gemm_, gpu.compute);
}

double GatherGemmWorkload::least_link_ns(const RunSettings& settings) const {
  std::vector<std::uint64_t> chunks;
  for (std::uint32_t gpu = 0; gpu < settings.gpus; ++gpu) {
    const t3_row_groups own = t3_gathered_share(&gathered_, gpu, settings.gpus);
    chunks.push_back(std::uint64_t{t3_gathered_rows(&gathered_, own)} * gemm_.k * bytes_of(gemm_.element));
  }
  return t3vp::least_link_ns(T3_ALL_GATHER, chunks, whole_fabric_of(settings));
}

HostNeed GatherGemmWorkload::host_need(const RunSettings&) const { return gemm_host_need(gemm_); }

double GatherGemmWorkload::weight(const RunSettings& settings) const { return gemm_weight(gemm_, settings); }

extern const WorkloadKind gather_gemm_kind;
const WorkloadKind gather_gemm_kind{
    "gather_gemm",
    {{"gather_gemm", "an all-gather into a GEMM", "there is no all-gather before a GEMM"}},
    {"x", "a", "b", "out"},
    {{"place", "placing own rows"}, {"gated", "all-gather and GEMM"}},
    {{"gather_gemm", {{"m", 1}, {"n", 1}, {"k", 1}}}},
    [](const Document& run) -> std::shared_ptr<Workload> { return std::make_shared<GatherGemmWorkload>(run); }};

}  // namespace t3vp
