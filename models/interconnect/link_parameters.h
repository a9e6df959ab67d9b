// Free parameters of the links. Those of the system file: links.parameters.json. Their sources: docs/models/timing.md.
#pragma once

#include <cstdint>
#include <optional>

#include "interconnect/links_parameters.h"

namespace t3vp::interconnect {

struct LinkParameters : LinkFileParameters {
  std::optional<std::uint64_t> drop_packet;  ///< a fault: number of the packet, from 0, that does not arrive
};

}  // namespace t3vp::interconnect
