// Free parameters of the links. Values and sources: the system file and docs/timing.md.
#pragma once

#include <cstdint>
#include <optional>

#include "protocol/picoseconds.h"

namespace t3vp::interconnect {

struct LinkParameters {
  double bandwidth_GBps = 75;  ///< per direction
  Picoseconds latency = 500'000;
  std::uint32_t header_bytes = 0;                  ///< per packet
  std::uint32_t max_payload_bytes = 0;             ///< of a packet, consecutive bytes; 0: a store of any shape is one
  std::uint32_t receive_buffer_bytes = 256 << 10;  ///< credits of a sender, of each virtual channel
  /// Consecutive wire bytes after which others that wait may go; 0: a store or update goes as a whole.
  std::uint32_t arbitration_bytes = 0;
  std::optional<std::uint64_t> drop_packet;  ///< a fault: number of the packet, from 0, that does not arrive
};

}  // namespace t3vp::interconnect
