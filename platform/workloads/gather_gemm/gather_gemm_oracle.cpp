#include "workloads/gather_gemm/gather_gemm_oracle.h"

namespace t3vp {

GatherGemmOracle::GatherGemmOracle(const GemmProblem& problem, std::uint32_t gpu)
    : gemm_(problem.gemm),
      of_a_(problem.gemm.k, problem.slab_depth, problem.gpus, 0, problem.seed),
      of_b_(problem.gemm.k, problem.slab_depth, problem.gpus, gpu, problem.seed) {}

std::vector<double> GatherGemmOracle::row_of_a(std::uint32_t row) const {
  std::vector<double> values(gemm_.k);
  for (std::uint32_t k = 0; k < gemm_.k; ++k) values[k] = of_a_.a(row, k);
  return values;
}

std::vector<double> GatherGemmOracle::row_of_b(std::uint32_t row) const {
  std::vector<double> values(gemm_.n);
  for (std::uint32_t column = 0; column < gemm_.n; ++column) values[column] = of_b_.b(row, column);
  return values;
}

std::vector<double> GatherGemmOracle::row_of_out(std::uint32_t row) const {
  std::vector<double> values(gemm_.n);
  for (std::uint32_t column = 0; column < gemm_.n; ++column)
    values[column] = of_a_.product_row(row) * of_b_.product_column(column);
  return values;
}

}  // namespace t3vp
