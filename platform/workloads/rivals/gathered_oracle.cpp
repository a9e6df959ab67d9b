#include "workloads/rivals/gathered_oracle.h"

#include "workloads/shared/exact_operands.h"

namespace t3vp {
namespace {

ExactOperands operands_of(const GemmProblem& p, std::uint32_t gpu) {
  return {p.gemm.k, p.slab_depth, p.gpus, gpu, p.seed};
}

}  // namespace

std::uint32_t gpu_of_row(const GemmProblem& problem, std::uint32_t row) {
  const std::uint32_t least = problem.gemm.m / problem.gpus, larger = problem.gemm.m % problem.gpus;
  const std::uint32_t in_larger = larger * (least + 1);
  return row < in_larger ? row / (least + 1) : larger + (row - in_larger) / least;
}

/// The terms and their weights are the same on all GPUs, so that all but the carrier's cancel.
std::vector<float> gathered_product_row(const GemmProblem& problem, std::uint32_t gpu, std::uint32_t row) {
  const float x = operands_of(problem, gpu_of_row(problem, row)).product_row(row);
  const ExactOperands own = operands_of(problem, gpu);
  std::vector<float> values(problem.gemm.n);
  for (std::uint32_t column = 0; column < problem.gemm.n; ++column) values[column] = x * own.product_column(column);
  return values;
}

}  // namespace t3vp
