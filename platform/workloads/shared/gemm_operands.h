// The contents of A and B of a GPU in a functional run, and the sum of the GPUs' products.
#pragma once

#include "compute/matrix_unit.h"
#include "workloads/shared/gemm_shape.h"

namespace t3vp {

/// A (m x k) as it is in memory: rounded to the element type.
compute::FloatMatrix operand_a(const GemmProblem& problem, std::uint32_t gpu);
/// B as it is in memory: k x n, or n x k when the run stores it transposed.
compute::FloatMatrix operand_b(const GemmProblem& problem, std::uint32_t gpu);

/// Returns the final output of every GPU, to the bit. Exact operands have one sum. Random ones are added as the ring
/// does it: a GPU's products in fp32 in the order of k, rounded to the element type; then for chunk c the partial
/// results of GPUs c - 1, c - 2 and so on, and c last, each sum rounded to the element type.
compute::FloatMatrix expected_output(const GemmProblem& problem);

/// Returns the final output of a GPU when chunks are exchanged and nothing is summed. It has each GPU's chunk of the
/// product that belongs to this GPU, in rows of its own for each GPU, and NaN elsewhere. Random operands are as above,
/// without a sum.
compute::FloatMatrix expected_slabs(const GemmProblem& problem, std::uint32_t gpu);

}  // namespace t3vp
