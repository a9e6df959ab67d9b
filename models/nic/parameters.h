// Free parameters of the NIC and of the wire between NICs. Values and sources: system files and docs/timing.md.
#pragma once

#include <cstdint>

#include "protocol/picoseconds.h"

namespace t3vp::nic {

struct NicParameters {
  double messages_per_us = 215;             ///< that it begins to send
  Picoseconds io_latency = 200'000;         ///< between NIC and memory or its registers, one way
  double io_GBps = 26;                      ///< of data between NIC and memory, each direction
  std::uint32_t entry_fetches = 128;        ///< work entries that are being read at once
  std::uint32_t payload_in_flight = 65536;  ///< bytes read, or being read, that have not left by the wire
  std::uint32_t mtu = 4096;                 ///< payload bytes of a packet
  std::uint32_t message_bytes = 1u << 30;   ///< of the longest message
  std::uint32_t regions = 256;              ///< places in the table of memory regions
};

struct WireParameters {
  double GBps = 25;               ///< of each end, each direction; headers take their share
  Picoseconds latency = 700'000;  ///< from the last byte at the sender to the last byte at the receiver
  /// A fault: the first packets that this NIC sends are lost.
  struct Loss {
    std::uint16_t nic = 0;
    std::uint64_t packets = 0;
  } loss;
};

}  // namespace t3vp::nic
