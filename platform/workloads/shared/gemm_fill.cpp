#include "workloads/shared/gemm_fill.h"

#include <cmath>
#include <memory>
#include <utility>

#include "protocol/picoseconds.h"
#include "workloads/shared/gemm_operands.h"
#include "workloads/shared/room_checks.h"
#include "workloads/shared/tile_choice.h"

namespace t3vp {
namespace {

using Operand = compute::FloatMatrix (*)(const GemmProblem& problem, std::uint32_t gpu);

/// The whole matrix is made when its first row is asked for.
Buffer::Row rows_of(Operand operand, const GemmProblem& problem, std::uint32_t gpu) {
  return [operand, problem, gpu, matrix = std::make_shared<compute::FloatMatrix>()](std::uint32_t row) {
    if (matrix->size() == 0) *matrix = operand(problem, gpu);
    const float* const begin = &(*matrix)(row, 0);
    return std::vector<double>(begin, begin + matrix->cols());
  };
}

}  // namespace

Buffer buffer_a(const GemmProblem& problem, std::uint32_t gpu) {
  const GemmShape& g = problem.gemm;
  Buffer a{"a", matrix_bytes(g.m, g.k, g.element), g.m, g.k, g.element};
  a.fill = rows_of(operand_a, problem, gpu);
  return a;
}

Buffer buffer_b(const GemmProblem& problem, std::uint32_t gpu) {
  const GemmShape& g = problem.gemm;
  const std::uint32_t rows = g.transpose_b ? g.n : g.k, columns = g.transpose_b ? g.k : g.n;
  Buffer b{"b", matrix_bytes(rows, columns, g.element), rows, columns, g.element};
  b.fill = rows_of(operand_b, problem, gpu);
  b.is_transposed = g.transpose_b;
  return b;
}

LowerBounds gemm_bounds(const GemmShape& g, const compute::ComputeParameters& compute) {
  LowerBounds bounds;
  bounds.compute_ns = 2.0 * g.m * g.n * g.k / matrix_rate(compute);
  bounds.compute_quantized_ns = to_ns(quantized_compute_time(compute, g.tile, g.m, g.n, g.k, 1));
  return bounds;
}

HostNeed gemm_host_need(const GemmShape& g) {
  const double m = g.m, n = g.n, k = g.k;
  HostNeed need;
  need.checked = 4 * m * n + 2 * (m * k + k * n);
  need.tile = g.tile;
  need.most_workgroups = std::ceil(m / g.tile.rows) * std::ceil(n / g.tile.columns);
  return need;
}

double gemm_weight(const GemmShape& g, const RunSettings& s) {
  const double m = g.m, n = g.n, k = g.k, gpus = s.mirror ? 1 : s.gpus;
  return gpus * ((s.phases.gemm ? m * k + k * n : 0) + 3 * m * n) * bytes_of(g.element);
}

}  // namespace t3vp
