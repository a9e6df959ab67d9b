// What the parameters of NIC and wire have to keep.
#pragma once

#include "nic/network_parameters.h"
#include "nic/nic_ranges.h"

namespace t3vp::nic {

/// Throws ParameterError about the first parameter that is out of range or breaks a rule.
inline void check_parameters(const ParameterCheck& check, const NicParameters& p) {
  check_parameters(check, static_cast<const NicFileParameters&>(p));
  check.require(p.message_bytes >= 1 && p.message_bytes <= 1u << 30, "message_bytes", p.message_bytes,
                "1 to 1073741824 B");
  check.require(p.regions >= 1 && p.regions <= 65536, "regions", p.regions, "1 to 65536");
}

}  // namespace t3vp::nic
