#include "nic/nic_packet.h"

#include <fmt/format.h>

#include <algorithm>

namespace t3vp::nic {
namespace {

// InfiniBand Architecture Specification, volume 1, chapter 9: local route header, base transport header, invariant and
// variant checks are in each packet; the others are RDMA, atomic, acknowledge and immediate headers.
constexpr std::uint32_t each = 8 + 12 + 4 + 2, rdma = 16, atomic = 28, acknowledge = 4, atomic_acknowledge = 8,
                        immediate = 4;
// Bytes of the tile's description in an accumulate's first packet, after the RDMA header. InfiniBand has no header for
// it.
constexpr std::uint32_t tile_bytes = T3_NIC_TILE_BYTES;

std::uint32_t header_bytes(const Packet& packet) {
  switch (packet.kind) {
    case Packet::Kind::write:
      return each + (packet.first ? rdma : 0) + (packet.has_immediate ? immediate : 0);
    case Packet::Kind::accumulate:
      return each + (packet.first ? rdma + tile_bytes : 0);
    case Packet::Kind::read_request:
      return each + rdma;
    case Packet::Kind::add_request:
      return each + atomic;
    case Packet::Kind::read_response:
      return each + (packet.first || packet.last ? acknowledge : 0);
    case Packet::Kind::add_response:
      return each + acknowledge + atomic_acknowledge;
    default:
      return each + acknowledge;
  }
}

}  // namespace

const char* name_of(Packet::Kind kind) {
  constexpr const char* names[] = {"write",
                                   "accumulate",
                                   "read request",
                                   "fetch-and-add request",
                                   "read response",
                                   "fetch-and-add response",
                                   "acknowledgement",
                                   "out-of-sequence notice",
                                   "not-ready notice",
                                   "refusal"};
  return names[static_cast<std::size_t>(kind)];
}

std::uint32_t packets_of(std::uint64_t bytes, std::uint32_t mtu) {
  return static_cast<std::uint32_t>(std::max<std::uint64_t>((bytes + mtu - 1) / mtu, 1));
}

std::uint32_t wire_bytes(const Packet& packet) { return header_bytes(packet) + (packet.payload() + 3) / 4 * 4; }

std::string describe(const Packet& packet) {
  return fmt::format("{} packet {} of queue pair {} of NIC {}", name_of(packet.kind), packet.sequence,
                     packet.from_queue_pair, packet.from_nic);
}

}  // namespace t3vp::nic
