// Rules between the parameters of the endpoint engine.
#pragma once

#include <fmt/format.h>

#include "endpoint/endpoint_parameters.h"
#include "protocol/parameter_check.h"

namespace t3vp::endpoint {

/// A message that arrives, one that still waits to be sent, and one that is loaded: a ring goes on with that.
inline constexpr std::uint32_t places_least = 3;

inline void check_rules(const EndpointParameters& p, const RuleCheck& require) {
  const std::uint64_t least = std::uint64_t{places_least} * p.rings * p.message_bytes;
  require(p.sram_bytes >= least, {"/sram_KiB", "sram_bytes", static_cast<double>(p.sram_bytes)},
          fmt::format("at least {} ({} messages of {} B for each of {} rings, in KiB)",
                      static_cast<double>(least) / 1024, places_least, p.message_bytes, p.rings));
}

}  // namespace t3vp::endpoint
