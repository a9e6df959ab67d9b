// An all-gather into a GEMM: what a's rows and the GPUs' outputs are.
#pragma once

#include <vector>

#include "workloads/shared/exact_operands.h"
#include "workloads/shared/gemm_shape.h"

namespace t3vp {

/// Operands are exact (exact_operands.h): a is that of GPU 0 on all GPUs, and b is the GPU's own. An element of a
/// product is known without any additions, also when the factors are of different GPUs.
class GatherGemmOracle {
 public:
  GatherGemmOracle(const GemmProblem& problem, std::uint32_t gpu);

  std::vector<double> row_of_a(std::uint32_t row) const;
  std::vector<double> row_of_b(std::uint32_t row) const;
  std::vector<double> row_of_out(std::uint32_t row) const;

 private:
  GemmShape gemm_;
  ExactOperands of_a_, of_b_;
};

}  // namespace t3vp
