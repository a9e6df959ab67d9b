// Free parameters of the compute units. A system's: *.parameters.json. Sources: docs/models/timing.md.
#pragma once

#include <cstdint>

#include "compute/compute_parameters.h"
#include "protocol/address_map.h"
#include "t3/kernel_parameters.h"

namespace t3vp::compute {

struct ComputeParameters : ComputeFileParameters {
  t3_kernel_parameters kernels = t3_default_kernel_parameters();  ///< for the kernels alone, as their device has them
  std::uint64_t memory_bytes = address_map::hbm_limit;            ///< of every GPU: packets reach no further
  double link_GBps = 0, hand_on_ns = 0, by_switch_ns = 0;         ///< as the kernels' device has them
  bool wrong_rounding = false;  ///< a fault: ring kernels round their sums toward zero
};

}  // namespace t3vp::compute
