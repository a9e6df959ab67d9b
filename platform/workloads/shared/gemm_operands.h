// What A and B of a GPU hold in a functional run, and what the GPUs' products sum to.
#pragma once

#include "compute/matrix_unit.h"
#include "workloads/shared/gemm_shape.h"

namespace t3vp {

/// A (m x k) as it is in memory: rounded to the element type.
compute::FloatMatrix operand_a(const GemmProblem& problem, std::uint32_t gpu);
/// B as it is in memory: k x n, or n x k when the run stores it transposed.
compute::FloatMatrix operand_b(const GemmProblem& problem, std::uint32_t gpu);

/// What every GPU has in the end, to the bit. Exact operands have one sum. Random ones are added as the ring does it: a
/// GPU's products in fp32 in the order of k, rounded to the element type; then for chunk c the partial results of GPUs
/// c - 1, c - 2 and so on, and c last, each sum rounded to the element type.
compute::FloatMatrix expected_output(const GemmProblem& problem);

/// What a GPU has in the end when chunks are exchanged and nothing is summed: for each GPU its product's chunk in this
/// GPU's place, in the rows of a slab of its own, and no number at all elsewhere. Random operands as above, without a
/// sum.
compute::FloatMatrix expected_slabs(const GemmProblem& problem, std::uint32_t gpu);

}  // namespace t3vp
