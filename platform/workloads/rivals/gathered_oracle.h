// A product of which the rows of the first factor come from all GPUs.
#pragma once

#include <vector>

#include "workloads/shared/gemm_shape.h"

namespace t3vp {

/// The GPU that has this row of a before the all-gather: parts differ by a row at most, and earlier ones are larger.
std::uint32_t gpu_of_row(const GemmProblem& problem, std::uint32_t row);

/// One row of a GPU's output, from exact operands: every row of a is its own GPU's, b is this GPU's.
std::vector<float> gathered_product_row(const GemmProblem& problem, std::uint32_t gpu, std::uint32_t row);

}  // namespace t3vp
