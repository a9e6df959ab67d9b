// The operands of a GEMM as buffers, and what is known of it before a run.
#pragma once

#include "workloads/shared/gemm_shape.h"
#include "workloads/workload.h"

namespace t3vp {

/// Bytes of a wavefront tile in the table that the driver gives the Tracker for entries that it spills.
constexpr std::uint64_t spill_entry_bytes = 32;

/// A is m x k.
Buffer buffer_a(const GemmProblem& problem, std::uint32_t gpu);
/// B is k x n, stored n x k when transposed.
Buffer buffer_b(const GemmProblem& problem, std::uint32_t gpu);

LowerBounds gemm_bounds(const GemmShape& gemm, const compute::ComputeParameters& compute);
HostNeed gemm_host_need(const GemmShape& gemm);
double gemm_weight(const GemmShape& gemm, const RunSettings& settings);

}  // namespace t3vp
