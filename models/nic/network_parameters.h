// Free parameters of the NIC and of the wire between NICs. Those of the system file: *.parameters.json. Their sources:
// docs/models/timing.md.
#pragma once

#include <cstdint>

#include "nic/nic_parameters.h"
#include "nic/wire_parameters.h"

namespace t3vp::nic {

struct NicParameters : NicFileParameters {
  std::uint32_t message_bytes = 1u << 30;  ///< of the longest message
  std::uint32_t regions = 256;             ///< places in the table of memory regions
};

struct WireParameters : WireFileParameters {
  /// A fault: the first packets that this NIC sends are lost.
  struct Loss {
    std::uint16_t nic = 0;
    std::uint64_t packets = 0;
  } loss;
};

}  // namespace t3vp::nic
