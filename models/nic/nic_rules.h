// Rules between the parameters of the NIC.
#pragma once

#include <fmt/format.h>

#include "nic/nic_parameters.h"
#include "protocol/parameter_check.h"

namespace t3vp::nic {

inline void check_rules(const NicFileParameters& p, const RuleCheck& require) {
  require(p.payload_in_flight >= p.mtu,
          {"/payload_in_flight_KiB", "payload_in_flight", static_cast<double>(p.payload_in_flight)},
          fmt::format("at least {} (mtu_bytes in KiB)", p.mtu / 1024.0));
}

}  // namespace t3vp::nic
