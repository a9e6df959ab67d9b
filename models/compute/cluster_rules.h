// What the parameters of a compute cluster have to keep.
#pragma once

#include "compute/cluster_parameters.h"
#include "compute/compute_ranges.h"
#include "registers/kernel_parameter_ranges.h"

namespace t3vp::compute {

/// Throws ParameterError about the first parameter that is out of range or breaks a rule.
inline void check_parameters(const ParameterCheck& check, const ComputeParameters& p) {
  check_parameters(check, static_cast<const ComputeFileParameters&>(p));
  t3vp::check_parameters(check.below("kernels"), p.kernels);
}

}  // namespace t3vp::compute
