// Rules between the parameters of the compute units.
#pragma once

#include <fmt/format.h>

#include "compute/compute_parameters.h"
#include "protocol/parameter_check.h"

namespace t3vp::compute {

inline void check_rules(const ComputeFileParameters& p, const RuleCheck& require) {
  require(p.tile_rows % p.wavefronts == 0, {"/tile_rows", "tile_rows", static_cast<double>(p.tile_rows)},
          fmt::format("a multiple of wavefronts, {}", p.wavefronts));
}

}  // namespace t3vp::compute
