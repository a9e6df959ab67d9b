// The packets that a link takes, and their size.
#pragma once

#include "interconnect/route.h"
#include "protocol/data_protocol.h"

namespace t3vp::interconnect {

/// The bytes of a receive buffer that a packet without payload takes: a request, which is an address and a size.
/// Without it the number of loads that wait at a GPU would not be limited.
inline constexpr std::uint64_t request_bytes = 16;

/// Answers have virtual channels of their own in the same order (route.h): the numbers from here on.
inline constexpr std::uint8_t answer_channels = most_channels;

inline bool is_packet(tlm::tlm_generic_payload& transaction) {
  switch (extension_of(transaction).operation) {
    case Operation::store:
    case Operation::update:
    case Operation::request:
    case Operation::answer:
      return true;
    default:
      return false;
  }
}

/// Bytes behind the headers: a request brings none but what is to be added.
inline std::uint64_t payload_bytes_of(tlm::tlm_generic_payload& transaction) {
  const DataExtension& extension = extension_of(transaction);
  if (extension.operation != Operation::request) return extension.shape.bytes();
  return extension_of(*extension.fabric.asked).operation == Operation::fetch_add ? extension.shape.bytes() : 0;
}

/// The virtual channel in which it takes this hop.
inline std::uint8_t channel_of(const Hop& hop, tlm::tlm_generic_payload& packet) {
  const bool is_answer = extension_of(packet).operation == Operation::answer;
  return static_cast<std::uint8_t>(hop.channel + (is_answer ? answer_channels : 0));
}

}  // namespace t3vp::interconnect
