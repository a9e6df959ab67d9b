// What the parameters of a node have to keep beyond those of its blocks.
#pragma once

#include <cstddef>

#include "protocol/parameter_check.h"
#include "system/gpu_parameters.h"

namespace t3vp {

/// Throws ParameterError when the fabric and the lists by GPU contradict each other: numbers of GPUs, ends and
/// receivers of links. `kernel_lists` is the number of lists of kernels.
void check_node(const ParameterCheck& check, const NodeParameters& node, std::size_t kernel_lists);

/// Throws ParameterError when the cache cannot number all lines of the memory. Lines of 0 bytes are for the cache to
/// refuse.
void check_gpu(const ParameterCheck& check, const GpuParameters& gpu);

}  // namespace t3vp
