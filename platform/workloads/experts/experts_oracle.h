// Experts on several GPUs: what GPUs receive of each other's products.
#pragma once

#include <vector>

#include "workloads/experts/experts_layout.h"
#include "workloads/shared/gemm_shape.h"

namespace t3vp {

/// Computes the results by formulas of its own, without code of the kernels. Operands are those of an exact GEMM, whose
/// products have elements that are known without any additions (exact_operands.h).
class ExpertsOracle {
 public:
  explicit ExpertsOracle(const GemmProblem& problem);

  /// Row `row` of what the GPU's `out` holds in the end: for each of its tokens one of each GPU's product.
  std::vector<float> received(std::uint32_t gpu, std::uint32_t row) const;

 private:
  GemmProblem problem_;
};

}  // namespace t3vp
