#include "workloads/rivals/rivals_workload.h"

#include <fmt/format.h>

#include <limits>

#include "t3/collective_staging.h"
#include "workloads/collective/collective_operation.h"
#include "workloads/gemm_arguments.h"
#include "workloads/registry.h"
#include "workloads/rivals/gathered_oracle.h"
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
  rival_.communication_workgroups = rival_.communication_units * settings.system.kernels.ring.workgroups_per_cu;
}

bool RivalsWorkload::sends_tiles(const RunSettings& settings) { return settings.built_in_program == "tiles"; }

bool RivalsWorkload::gathers_first(const RunSettings& settings) { return settings.built_in_program == "gathered"; }

std::vector<t3_collective_op> RivalsWorkload::collectives_of(const RunSettings& settings) const {
  if (settings.built_in_program == "two_queues") return {T3_REDUCE_SCATTER, T3_ALL_GATHER};
  if (!sends_tiles(settings)) return {};
  if (rival_.gather == T3_GATHER_BY_KERNEL) return {T3_ALL_GATHER};
  return {};
}

std::vector<CollectiveUse> RivalsWorkload::collective_uses(const RunSettings& settings) const {
  if (settings.built_in_program == "two_queues")
    return {{"reduce_scatter", collectives_algorithm()}, {"all_gather", collectives_algorithm()}};
  if (gathers_first(settings)) return {{"all_gather", settings.method == "gather-then-gemm" ? "stores" : "DMA copies"}};
  if (settings.method == "endpoint") return {{"all_reduce", "endpoint engine"}};
  const bool by_kernel = sends_tiles(settings) && rival_.gather == T3_GATHER_BY_KERNEL;
  const std::string otherwise = sends_tiles(settings) ? word_of(rival_.gather, rival_gather_words) : "DMA copies";
  return {{"reduce_scatter", settings.method}, {"all_gather", by_kernel ? collectives_algorithm() : otherwise}};
}

PackedWorkload RivalsWorkload::packed_for(const RunSettings& settings) const {
  t3_rival rival = rival_;
  rival.mechanism = value_of(json(settings.method), rival_mechanism_words);
  const t3_gemm_workload gemm = firmware_arguments(settings);
  std::vector<unsigned char> tail(T3_GEMM_WORKLOAD_BYTES);
  t3_gemm_workload_to(&gemm, tail.data());
  return packed(rival, tail);
}

/// The rows of a piece with what lies between them, as two_queues.c has them.
t3_collective RivalsWorkload::piece_of_collective(const RunSettings& settings, std::uint32_t piece) const {
  const t3_grid grid = firmware_grid(this->grid(settings));
  t3_collective c = flat_collective(settings);
  c.op = T3_ALL_REDUCE;
  c.elements = t3_part_of_rows({0, grid.rows}, piece, rival_.pieces).count *
               (grid.stride / t3_element_bytes(static_cast<t3_element>(shape().element)));
  return c;
}

void RivalsWorkload::add_partials(const RunSettings& settings, std::vector<Buffer>& all) const {
  const t3_grid grid = firmware_grid(this->grid(settings));
  if (settings.built_in_program == "two_queues") {
    for (std::uint32_t piece = 0; piece < rival_.pieces; ++piece) {
      const t3_collective flat = piece_of_collective(settings, piece);
      all.push_back({"staging", t3_staging_bytes(&flat, settings.gpus)});
    }
    return;
  }
  if (settings.method == "endpoint") return;
  if (!sends_tiles(settings)) {
    const std::uint32_t pieces = settings.built_in_program == "decomposed" ? 1 : rival_.pieces;
    all.push_back({"partials", grid.rows * grid.stride});
    all.push_back({"slots", std::uint64_t{pieces} * settings.gpus * t3_piece_slot_bytes(&grid, pieces, settings.gpus)});
    all.push_back({"flags", pieces * t3_piece_flag_bytes(settings.gpus)});
    return;
  }
  if (settings.method == "stored-tiles")
    all.push_back({"partials", settings.gpus * t3_slot_bytes(&grid, settings.gpus)});
  if (settings.method == "load-reduce" ||
      (settings.method == "direct-update" && rival_.gather == T3_GATHER_BY_MULTICAST))
    all.push_back({"partials", grid.rows * grid.stride});
  if (rival_.communication_units != 0) all.push_back({"flags", t3_tile_flag_bytes(&grid, settings.gpus)});
}

/// Rows that are still to come hold no numbers.
std::vector<Buffer> RivalsWorkload::gathered_buffers(const GemmProblem& problem, std::uint32_t gpu) const {
  Buffer a = buffer_a(problem, gpu),
         out{"out", matrix_bytes(shape().m, shape().n, shape().element), shape().m, shape().n, shape().element};
  a.fill = [problem, gpu, own = a.fill](std::uint32_t row) {
    if (gpu_of_row(problem, row) == gpu) return own(row);
    return std::vector<double>(problem.gemm.k, std::numeric_limits<double>::quiet_NaN());
  };
  out.expected = [problem, gpu](std::uint32_t row) { return widened(gathered_product_row(problem, gpu, row)); };
  return {a, buffer_b(problem, gpu), out, {"flags", t3_piece_flag_bytes(problem.gpus)}};
}

std::vector<Buffer> RivalsWorkload::buffers(const RunSettings& settings, std::uint32_t gpu) const {
  const GemmProblem problem = gemm_problem(shape(), settings);
  if (gathers_first(settings)) return gathered_buffers(problem, gpu);
  std::vector<Buffer> all{buffer_a(problem, gpu), buffer_b(problem, gpu), output(settings, gpu)};
  add_partials(settings, all);
  return all;
}

/// Returns the lower bound of an all-gather of a, or of an all-reduce of the output.
double RivalsWorkload::least_link_ns(const RunSettings& settings) const {
  if (!gathers_first(settings)) return GemmWorkload::least_link_ns(settings);
  std::vector<std::uint64_t> parts;
  for (std::uint32_t gpu = 0; gpu < settings.gpus; ++gpu)
    parts.push_back(std::uint64_t{t3_part_of_rows({0, shape().m}, gpu, settings.gpus).count} * shape().k *
                    bytes_of(shape().element));
  return t3vp::least_link_ns(T3_ALL_GATHER, parts, whole_fabric_of(settings));
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
