// The programs' buffers, and what no run goes below.
#include <algorithm>
#include <memory>
#include <numeric>

#include "t3/collective_staging.h"
#include "t3/dropout_mask.h"
#include "workloads/collective/collective_operation.h"
#include "workloads/gemm/gemm_workload.h"
#include "workloads/shared/gemm_fill.h"
#include "workloads/shared/gemm_operands.h"
#include "workloads/shared/tile_choice.h"

namespace t3vp {
namespace {

constexpr std::uint64_t nic_ring_bytes = 64 + 256 * 96;  // of a queue pair with its completions
constexpr double following_keep = 0.5;                   // gemm_following.h's
constexpr std::uint32_t following_seed = 7;              // the same

}  // namespace

/// What GPUs have in the end, made when it is first asked for; of an all-to-all it is each GPU's own.
class ExpectedOutput {
 public:
  ExpectedOutput(const GemmProblem& problem, bool is_exchanged) : problem_(problem), is_exchanged_(is_exchanged) {}

  std::vector<double> row(std::uint32_t gpu, std::uint32_t row) {
    if (values_.size() == 0 || (is_exchanged_ && gpu != gpu_))
      values_ = is_exchanged_ ? expected_slabs(problem_, gpu) : expected_output(problem_);
    gpu_ = gpu;
    const float* const begin = &values_(row, 0);
    return {begin, begin + values_.cols()};
  }

 private:
  GemmProblem problem_;
  bool is_exchanged_;
  std::uint32_t gpu_ = 0;  ///< whose values they are
  compute::FloatMatrix values_;
};

void GemmWorkload::expect(const RunSettings& settings) {
  expected_ = std::make_shared<ExpectedOutput>(gemm_problem(gemm_, settings), fused_ == T3_FUSED_ALL_TO_ALL);
}

/// Workgroups of which a GPU counts accesses, those of the same number in several slabs each for itself.
std::uint64_t GemmWorkload::counted_workgroups(const RunSettings& settings) const {
  const std::uint64_t tiles = grid(settings).workgroups(), largest = (tiles + settings.gpus - 1) / settings.gpus;
  switch (fused_) {
    case T3_FUSED_DIRECT_REDUCE_SCATTER:
      return largest;
    case T3_FUSED_ALL_TO_ALL:
      return largest * settings.gpus;
    case T3_FUSED_HIERARCHICAL_REDUCE_SCATTER:
      return (tiles + gpus_per_node_ - 1) / gpus_per_node_;
    default:
      return tiles;
  }
}

namespace {

double bias_at(std::uint32_t column) { return column % 2 == 0 ? 1.0 + column % 3 : -1.0 - column % 3; }

double residual_at(std::uint32_t row, std::uint32_t column) {
  return static_cast<double>((row * 3 + column * 5) % 7) - 3;
}

/// Returns the element that should be in memory: its sum, and what follows it.
double followed(t3_gemm_following following, double sum, std::uint32_t row, std::uint32_t column) {
  const bool keeps = following == T3_FOLLOWING_RESIDUAL ||
                     t3_dropout_keeps(following_seed, row, column, static_cast<float>(following_keep));
  if (following == T3_FOLLOWING_ALL) sum += bias_at(column);
  if (following != T3_FOLLOWING_RESIDUAL) sum = keeps ? sum / following_keep : 0;
  return following == T3_FOLLOWING_DROPOUT ? sum : sum + residual_at(row, column);
}

/// Bias and residual of the element type.
std::vector<Buffer> following_operands(const GemmShape& gemm) {
  Buffer bias{"bias", matrix_bytes(1, gemm.n, gemm.element), 1, gemm.n, gemm.element};
  Buffer residual{"residual", matrix_bytes(gemm.m, gemm.n, gemm.element), gemm.m, gemm.n, gemm.element};
  const auto row_of = [columns = gemm.n](auto value) {
    return [columns, value](std::uint32_t row) {
      std::vector<double> values(columns);
      for (std::uint32_t column = 0; column < columns; ++column) values[column] = value(row, column);
      return values;
    };
  };
  bias.fill = row_of([](std::uint32_t, std::uint32_t column) { return bias_at(column); });
  residual.fill = row_of(residual_at);
  return {bias, residual};
}

}  // namespace

/// All, or behind a reduce-scatter without an all-gather the elements of the tiles that the GPU owns.
Buffer GemmWorkload::output(const RunSettings& settings, std::uint32_t gpu) const {
  const std::uint32_t rows = gemm_.m * t3_fused_slabs(fused_, settings.gpus);
  Buffer out{"out", matrix_bytes(rows, gemm_.n, gemm_.element), rows, gemm_.n, gemm_.element};
  out.expected = [values = expected_, gpu](std::uint32_t row) { return values->row(gpu, row); };
  if (following_ != T3_FOLLOWING_NONE)
    out.expected = [sums = out.expected, following = following_](std::uint32_t row) {
      std::vector<double> values = sums(row);
      for (std::uint32_t column = 0; column < values.size(); ++column)
        values[column] = followed(following, values[column], row, column);
      return values;
    };
  if (!is_scattered()) return out;
  const std::uint32_t chunk = chunk_of(gpu, settings.gpus);
  out.is_owned = [grid = grid(settings), chunk, gpus = settings.gpus](std::uint32_t row, std::uint32_t column) {
    const std::uint32_t tile = row / grid.tile_rows * grid.tiles_across() + column / grid.tile_columns;
    return tile >= grid.chunk_begin(chunk, gpus) && tile < grid.chunk_begin(chunk + 1, gpus);
  };
  return out;
}

std::vector<Buffer> GemmWorkload::buffers(const RunSettings& settings, std::uint32_t gpu) const {
  const GemmProblem problem = gemm_problem(gemm_, settings);
  std::vector<Buffer> all{buffer_a(problem, gpu), buffer_b(problem, gpu), output(settings, gpu)};
  if (following_ != T3_FOLLOWING_NONE)
    for (Buffer& operand : following_operands(gemm_)) all.push_back(std::move(operand));
  for (std::uint32_t other = 1; by_nic_ && other < settings.gpus / gpus_per_node_; ++other)
    all.push_back({"queue_pair", nic_ring_bytes});
  if (is_fused(settings)) {
    const std::uint64_t tiles = std::max<std::uint64_t>(grid(settings).workgroups(), counted_workgroups(settings));
    all.push_back({"spilled", tiles * settings.system.compute.wavefronts * spill_entry_bytes});
  } else if (algorithm_ != T3_RING) {
    const t3_collective flat = flat_collective(settings);
    all.push_back({"received", t3_staging_bytes(&flat, settings.gpus)});
  } else if (settings.method != "ideal-rs-nmc") {
    all.push_back({"received", matrix_bytes(gemm_.m, gemm_.n, gemm_.element)});
  }
  if (cache_ == T3_CACHE_DIRTY) all.push_back({"other", settings.system.cache.capacity_bytes});
  return all;
}

LowerBounds GemmWorkload::lower_bounds(const RunSettings& settings, std::uint32_t, const GpuParameters& gpu) const {
  if (!settings.phases.gemm) return {};
  LowerBounds bounds = gemm_bounds(gemm_, gpu.compute);
  if (split_k_ == 1) return bounds;
  const std::uint32_t depth = settings.system.compute.slab_depth, share = gemm_.k / depth / split_k_ * depth;
  bounds.compute_quantized_ns =
      std::max(bounds.compute_ns,
               to_ns(quantized_compute_time(gpu.compute, gemm_.tile, gemm_.m, gemm_.n, std::max(share, 1u), split_k_)));
  return bounds;
}

/// The sums that each GPU has in the end.
std::vector<std::uint64_t> GemmWorkload::owned_bytes(const RunSettings& settings) const {
  const std::vector<std::uint64_t> chunks = chunk_elements(grid(settings), settings.gpus);
  std::vector<std::uint64_t> owned;
  for (std::uint32_t gpu = 0; gpu < settings.gpus; ++gpu)
    owned.push_back(chunks[chunk_of(gpu, settings.gpus)] * bytes_of(gemm_.element));
  return owned;
}

/// Of a reduce-scatter by NICs: one addend at least of each sum of a node has to come in by its NICs, and one of each
/// sum of the others to go out.
double GemmWorkload::least_nic_ns(const RunSettings& settings) const {
  const std::vector<std::uint64_t> owned = owned_bytes(settings);
  const std::uint32_t node = gpus_per_node_;
  const std::uint64_t all = std::accumulate(owned.begin(), owned.end(), std::uint64_t{0});
  std::uint64_t most = 0;
  for (auto first = owned.begin(); first != owned.end(); first += node) {
    const std::uint64_t inside = std::accumulate(first, first + node, std::uint64_t{0});
    most = std::max({most, inside, all - inside});
  }
  return static_cast<double>(most) / node / settings.system.wire.GBps;
}

/// What ends with an all-gather is an all-reduce. A ring has one route alone, whose links have carried more, and phases
/// that are left out need nothing.
double GemmWorkload::least_link_ns(const RunSettings& settings) const {
  if (by_nic_) return least_nic_ns(settings);
  const bool is_ring = is_fused(settings) || algorithm_ == T3_RING || !settings.phases.are_all();
  if (fused_ == T3_FUSED_RING_REDUCE_SCATTER && is_ring) return 0;
  const std::vector<std::uint64_t> chunks = owned_bytes(settings);
  const t3_collective_op op = fused_ == T3_FUSED_ALL_TO_ALL ? T3_ALL_TO_ALL : T3_ALL_REDUCE;
  return t3vp::least_link_ns(op, chunks, whole_fabric_of(settings));
}

}  // namespace t3vp
