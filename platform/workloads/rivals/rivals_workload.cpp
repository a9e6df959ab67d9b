#include "workloads/rivals/rivals_workload.h"

#include <fmt/format.h>

#include "workloads/gemm_arguments.h"
#include "workloads/registry.h"
#include "workloads/rivals/rival_layout.h"
#include "workloads/rivals_arguments.h"
#include "workloads/shared/gemm_fill.h"
#include "workloads/shared/room_checks.h"

namespace t3vp {
namespace {

using nlohmann::json;

t3_grid firmware_grid(const TileGrid& grid) {
  return {grid.rows,
          grid.columns,
          grid.tile_rows,
          grid.tile_columns,
          grid.wavefronts,
          grid.row_stride,
          static_cast<t3_element>(grid.element)};
}

}  // namespace

RivalsWorkload::RivalsWorkload(const Document& run) : GemmWorkload(run, "rivals") {
  read_rival(run.content.at("workload").at("rival"), rival_);
}

json RivalsWorkload::resolved() const {
  json all = GemmWorkload::resolved();
  all["rival"] = json_of(rival_);
  return all;
}

std::shared_ptr<Workload> RivalsWorkload::unnamed() const {
  auto other = std::make_shared<RivalsWorkload>(*this);
  other->forget_names();
  return other;
}

Operands RivalsWorkload::operands(const Document& run) const {
  require_exact_operands(run, "rivals add in the order in which partial sums arrive, or in fp32");
  return Operands::exact;
}

void RivalsWorkload::complete(const Document& run, const Document& system, const RunSettings& settings) {
  GemmWorkload::complete(run, system, settings);
  rival_.compute_units = settings.system.compute.compute_units;
}

std::vector<t3_collective_op> RivalsWorkload::collectives_of(const RunSettings&) const {
  if (rival_.gather == T3_GATHER_BY_KERNEL) return {T3_ALL_GATHER};
  return {};
}

std::vector<CollectiveUse> RivalsWorkload::collective_uses(const RunSettings& settings) const {
  std::vector<CollectiveUse> uses{{"reduce_scatter", settings.method}};
  const std::string by =
      rival_.gather == T3_GATHER_BY_KERNEL ? collectives_algorithm() : word_of(rival_.gather, rival_gather_words);
  uses.push_back({"all_gather", by});
  return uses;
}

PackedWorkload RivalsWorkload::packed_for(const RunSettings& settings) const {
  t3_rival rival = rival_;
  rival.mechanism = value_of(json(settings.method), rival_mechanism_words);
  const t3_gemm_workload gemm = firmware_arguments(settings);
  std::vector<unsigned char> tail(T3_GEMM_WORKLOAD_BYTES);
  t3_gemm_workload_to(&gemm, tail.data());
  return packed(rival, tail);
}

void RivalsWorkload::add_partials(const RunSettings& settings, std::vector<Buffer>& all) const {
  const t3_grid grid = firmware_grid(this->grid(settings));
  if (settings.method == "stored-tiles")
    all.push_back({"partials", settings.gpus * t3_slot_bytes(&grid, settings.gpus)});
  if (settings.method == "load-reduce") all.push_back({"partials", grid.rows * grid.stride});
  if (rival_.communication_units != 0) all.push_back({"flags", t3_tile_flag_bytes(&grid, settings.gpus)});
}

std::vector<Buffer> RivalsWorkload::buffers(const RunSettings& settings, std::uint32_t gpu) const {
  const GemmProblem problem = gemm_problem(shape(), settings);
  std::vector<Buffer> all{buffer_a(problem, gpu), buffer_b(problem, gpu), output(settings, gpu)};
  add_partials(settings, all);
  return all;
}

extern const WorkloadKind rivals_kind;
const WorkloadKind rivals_kind{
    "rivals",
    {},
    {"a", "b", "out"},
    {},
    {{"gemm", {{"m", 1}, {"n", 1}, {"k", 1}}}, {"tokens", 1}, {"rival", {{"communication_units", 0}, {"group", 0}}}},
    [](const Document& run) -> std::shared_ptr<Workload> { return std::make_shared<RivalsWorkload>(run); },
    {{"sublayer", "model"}, {"tp", "model"}, {"tokens", "model"}},
    true};

}  // namespace t3vp
