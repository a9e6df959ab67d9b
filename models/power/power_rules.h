// Rules between the parameters of a power limit.
#pragma once

#include "power/power_parameters.h"
#include "protocol/parameter_check.h"

namespace t3vp::power {

inline void check_rules(const PowerParameters& p, const RuleCheck& require) {
  require(p.idle_W < p.limit_W, {"/idle_W", "idle_W", p.idle_W}, "less than limit_W");
}

}  // namespace t3vp::power
