#include "workloads/data_parallel/data_parallel_workload.h"

#include <fmt/format.h>

#include <algorithm>

#include "system/system_checks.h"
#include "workloads/collective/collective_operation.h"
#include "workloads/data_parallel/optimizer_oracle.h"
#include "workloads/registry.h"
#include "workloads/shared/exact_operands.h"
#include "workloads/shared/gemm_fill.h"
#include "workloads/shared/gemm_operands.h"
#include "workloads/shared/room_checks.h"
#include "workloads/shared/tile_choice.h"

namespace t3vp {

using nlohmann::json;

namespace {

bool is_fused_method(const std::string& method) { return method == "t3" || method == "t3-mca"; }

/// The independent GEMM's operands are of another seed.
GemmProblem problem_beside(const GemmShape& shape, const RunSettings& settings) {
  GemmProblem problem = gemm_problem(shape, settings);
  ++problem.seed;
  return problem;
}

}  // namespace

DataParallelWorkload::DataParallelWorkload(const Document& run) : Workload("data_parallel") {
  read_data_parallel(run.content.at("workload").at("data_parallel"), arguments_);
  gradient_.m = arguments_.m;
  gradient_.n = arguments_.n;
  gradient_.k = arguments_.k;
  gradient_.element = static_cast<ElementType>(arguments_.element);
  gradient_.tile = {arguments_.tile_rows, arguments_.tile_columns};
  beside_ = gradient_;
  beside_.m = arguments_.beside_m;
  beside_.n = arguments_.beside_n;
  beside_.k = arguments_.beside_k;
  name(run, shape_text());
}

std::string DataParallelWorkload::shape_text() const {
  return fmt::format("Gradient {} x {} x {} and GEMM {} x {} x {} {}", gradient_.m, gradient_.n, gradient_.k, beside_.m,
                     beside_.n, beside_.k, name_of(gradient_.element));
}

json DataParallelWorkload::resolved() const { return {{"label", label()}, {"data_parallel", json_of(arguments_)}}; }

std::shared_ptr<Workload> DataParallelWorkload::unnamed() const {
  auto other = std::make_shared<DataParallelWorkload>(*this);
  other->name(shape_text());
  return other;
}

std::uint32_t DataParallelWorkload::gpus(const Document& run, bool) const {
  return required_gpus(run, "the GPUs that have tokens");
}

Operands DataParallelWorkload::operands(const Document& run) const {
  require_exact_operands(run, "gradients are sums of integers");
  return Operands::exact;
}

void DataParallelWorkload::complete(const Document& run, const Document&, const RunSettings& settings) {
  if (gradient_.tile.elements() != 0)
    check_explicit_tile(run, "/workload/data_parallel/tile", settings.system, gradient_.tile);
  else
    gradient_.tile = choose_tile(settings.system, gradient_);
  beside_.tile = gradient_.tile;
  arguments_.tile_rows = gradient_.tile.rows;
  arguments_.tile_columns = gradient_.tile.columns;
  arguments_.wavefronts = settings.system.compute.wavefronts;
}

std::vector<CollectiveUse> DataParallelWorkload::collective_uses(const RunSettings& settings) const {
  return {{"reduce_scatter", is_fused_method(settings.method) ? "fused ring" : "ring"}};
}

void DataParallelWorkload::check_links(const Document& system, const RunSettings& settings, bool join_all) const {
  if (!join_all) reject_separate_gpus(system, settings, "data_parallel");
}

void DataParallelWorkload::check(const Document& run, const Document& system, const RunSettings& settings) const {
  const std::string& method = settings.method;
  if (!is_fused_method(method) && method != "overlap" && method != "sequential")
    run.reject("/method", "t3, t3-mca, overlap or sequential, or nothing, for data_parallel");
  if (settings.mirror)
    run.reject("/simulate",
               "all: no mirror stands for this workload's GPUs, only for a GEMM's ring or the GPUs of a torus");
  const std::uint32_t wavefronts = settings.system.compute.wavefronts, gpus = settings.gpus;
  const std::uint64_t tiles = output_grid(gradient_, wavefronts).workgroups();
  if (tiles < gpus)
    run.reject("/workload/data_parallel",
               fmt::format("a gradient of {} tiles or more, one for each GPU, not of {}", gpus, tiles));
  if (std::max<std::uint64_t>(tiles, output_grid(beside_, wavefronts).workgroups()) > most_mapped_workgroups)
    run.reject("/workload", fmt::format("outputs of at most {} tiles", most_mapped_workgroups));
  require_room(run, settings, buffers(settings, 0), "operands and results");
  for (const auto& [place, found] : {std::pair{"/tracker/chunks", settings.system.tracker.chunks},
                                     std::pair{"/dma/commands", settings.system.dma.commands}})
    if (is_fused_method(method) && found < gpus - 1)
      system.reject(place, fmt::format("at least {}, the chunks that a GPU maps", gpus - 1));
}

PackedWorkload DataParallelWorkload::packed_for(const RunSettings& settings) const {
  t3_data_parallel w = arguments_;
  w.fused = is_fused_method(settings.method);
  w.beside_kernel = settings.method == "overlap";
  w.valid_bits = settings.system.memory.valid_bits_bytes != 0;
  return packed(w);
}

/// The elements of the tiles that the GPU owns.
Buffer DataParallelWorkload::scattered_sum(const RunSettings& settings, std::uint32_t gpu) const {
  const auto sums = std::make_shared<compute::FloatMatrix>();
  const GemmProblem problem = gemm_problem(gradient_, settings);
  Buffer out{"out", matrix_bytes(gradient_.m, gradient_.n, gradient_.element), gradient_.m, gradient_.n,
             gradient_.element};
  out.expected = [sums, problem](std::uint32_t row) {
    if (sums->size() == 0) *sums = expected_output(problem);
    const float* const begin = &(*sums)(row, 0);
    return std::vector<double>(begin, begin + sums->cols());
  };
  out.is_owned = [grid = output_grid(gradient_, settings.system.compute.wavefronts), gpu, gpus = settings.gpus](
                     std::uint32_t row, std::uint32_t column) {
    const std::uint32_t tile = row / grid.tile_rows * grid.tiles_across() + column / grid.tile_columns;
    return tile >= grid.chunk_begin(gpu, gpus) && tile < grid.chunk_begin(gpu + 1, gpus);
  };
  return out;
}

std::vector<Buffer> DataParallelWorkload::buffers(const RunSettings& settings, std::uint32_t gpu) const {
  const GemmProblem problem = gemm_problem(gradient_, settings), other = problem_beside(beside_, settings);
  Buffer beside_a = buffer_a(other, gpu), beside_b = buffer_b(other, gpu);
  beside_a.name = "beside_a";
  beside_b.name = "beside_b";
  Buffer beside_out{"beside_out", matrix_bytes(beside_.m, beside_.n, beside_.element), beside_.m, beside_.n,
                    beside_.element};
  beside_out.expected = [operands = ExactOperands(other.gemm.k, other.slab_depth, other.gpus, gpu, other.seed),
                         columns = beside_.n](std::uint32_t row) {
    std::vector<double> values(columns);
    for (std::uint32_t column = 0; column < columns; ++column)
      values[column] = operands.product_row(row) * operands.product_column(column);
    return values;
  };
  std::vector<Buffer> all{
      buffer_a(problem, gpu), buffer_b(problem, gpu), scattered_sum(settings, gpu), beside_a, beside_b, beside_out};
  if (arguments_.optimizer == T3_ADAM)
    for (Buffer& state : optimizer_buffers(scattered_sum(settings, gpu))) all.push_back(std::move(state));
  if (is_fused_method(settings.method)) {
    const TileGrid grid = output_grid(gradient_, settings.system.compute.wavefronts);
    all.push_back({"spilled", std::uint64_t{grid.workgroups()} * grid.wavefronts * spill_entry_bytes});
  } else {
    all.push_back({"received", matrix_bytes(gradient_.m, gradient_.n, gradient_.element)});
  }
  return all;
}

LowerBounds DataParallelWorkload::lower_bounds(const RunSettings&, std::uint32_t, const GpuParameters& gpu) const {
  LowerBounds sum = gemm_bounds(gradient_, gpu.compute);
  const LowerBounds beside = gemm_bounds(beside_, gpu.compute);
  sum.compute_ns += beside.compute_ns;
  sum.compute_quantized_ns = sum.compute_ns;  // workgroups of both may share a round
  return sum;
}

double DataParallelWorkload::least_link_ns(const RunSettings& settings) const {
  std::vector<std::uint64_t> chunks =
      chunk_elements(output_grid(gradient_, settings.system.compute.wavefronts), settings.gpus);
  for (std::uint64_t& chunk : chunks) chunk *= bytes_of(gradient_.element);
  return t3vp::least_link_ns(T3_REDUCE_SCATTER, chunks, whole_fabric_of(settings));
}

HostNeed DataParallelWorkload::host_need(const RunSettings&) const { return gemm_host_need(gradient_); }

double DataParallelWorkload::weight(const RunSettings& settings) const {
  return gemm_weight(gradient_, settings) + gemm_weight(beside_, settings);
}

extern const WorkloadKind data_parallel_kind;
const WorkloadKind data_parallel_kind{
    "data_parallel",
    {{"data_parallel", "a gradient beside a GEMM", "there is no gradient"}},
    {"a", "b", "out", "beside_a", "beside_b", "beside_out", "means", "squares", "weights"},
    {{"beside", "independent GEMM"}, {"optimizer", "optimizer"}},
    {{"data_parallel", {{"m", 1}, {"n", 1}, {"k", 1}, {"beside_m", 1}, {"beside_n", 1}, {"beside_k", 1}}}},
    [](const Document& run) -> std::shared_ptr<Workload> { return std::make_shared<DataParallelWorkload>(run); }};

}  // namespace t3vp
