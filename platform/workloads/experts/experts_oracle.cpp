#include "workloads/experts/experts_oracle.h"

#include "workloads/shared/exact_operands.h"

namespace t3vp {

ExpertsOracle::ExpertsOracle(const GemmProblem& problem) : problem_(problem) {}

std::vector<float> ExpertsOracle::received(std::uint32_t gpu, std::uint32_t row) const {
  const std::uint32_t gpus = problem_.gpus, expert = row % gpus;
  std::uint32_t token = row / gpus;
  for (std::uint32_t before = 0; before < gpu; ++before)
    token += problem_.gemm.m / gpus + (before < problem_.gemm.m % gpus ? 1 : 0);
  const ExactOperands operands(problem_.gemm.k, problem_.slab_depth, gpus, expert, problem_.seed);
  std::vector<float> values(problem_.gemm.n);
  for (std::uint32_t column = 0; column < problem_.gemm.n; ++column)
    values[column] = operands.product_row(token) * operands.product_column(column);
  return values;
}

}  // namespace t3vp
