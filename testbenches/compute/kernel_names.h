// The platform's kernels as packets name them.
#pragma once

#include "t3/kernel_handle.h"

namespace t3vp::handle {

constexpr std::uint32_t gemm = t3_kernel_handle("gemm"), ring_reduce_scatter = t3_kernel_handle("ring-reduce-scatter"),
                        ring_all_gather = t3_kernel_handle("ring-all-gather"), rows = t3_kernel_handle("rows"),
                        attention = t3_kernel_handle("attention");

}  // namespace t3vp::handle
