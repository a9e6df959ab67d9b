// The packets between NICs: those of InfiniBand's reliable connection, by their meaning.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "protocol/order_observer.h"
#include "protocol/picoseconds.h"
#include "registers/nic_syndrome.h"
#include "registers/status.h"
#include "t3/nic_tile.h"

namespace t3vp::nic {

/// A packet but for its payload's bytes.
struct PacketHeader {
  enum class Kind : std::uint8_t {
    write,
    accumulate,  ///< a write whose bytes are added
    read_request,
    add_request,
    read_response,
    add_response,
    acknowledge,      ///< of all packets up to `sequence`
    out_of_sequence,  ///< `sequence` was expected
    not_ready,        ///< the receiver has no receive entry for the message of packet `sequence`
    refuse            ///< packet `sequence`, for the reason in `syndrome`; all before it are acknowledged
  };
  Kind kind = Kind::write;
  std::uint16_t from_nic = 0, to_nic = 0;
  std::uint32_t from_queue_pair = 0, to_queue_pair = 0;
  /// The generation of the requesting queue pair: the number of its resets. A response has its request's.
  std::uint32_t generation = 0;
  std::uint32_t sequence = 0;  ///< of a read request, of the first packet of its response
  /// The address of this packet's bytes; for an accumulate, of the message's; for a refusal, the refused address.
  std::uint64_t address = 0;
  std::uint32_t key = 0;
  std::uint32_t bytes = 0;          ///< of payload; of a read request, of what is asked for
  std::uint64_t message_bytes = 0;  ///< of a write or accumulate: from its first packet to its last
  std::uint64_t offset = 0;         ///< of an accumulate: of this packet's bytes in the message
  t3_nic_tile tile{};               ///< of an accumulate
  std::uint64_t addend = 0;
  std::uint32_t immediate = 0;
  bool first = false, last = false, has_immediate = false;
  NicSyndrome syndrome = NicSyndrome::ok;
  Status reason = Status::ok;  ///< of a refusal by memory: what it has said
  OrderPoint order = 0;        ///< where its sender is

  /// Its bytes go to the peer's memory.
  bool is_write() const { return kind == Kind::write || kind == Kind::accumulate; }
  bool is_request() const { return kind <= Kind::add_request; }
  std::uint32_t payload() const { return is_write() || kind == Kind::read_response ? bytes : 0; }
};

struct Packet : PacketHeader {
  std::vector<unsigned char> data;  ///< empty where data are not simulated
};

using PacketPointer = std::shared_ptr<const Packet>;

/// Sequence numbers from the first packet of a message to behind its last.
std::uint32_t packets_of(std::uint64_t bytes, std::uint32_t mtu);
/// Bytes on the wire: the payload and InfiniBand's headers.
std::uint32_t wire_bytes(const Packet& packet);
const char* name_of(Packet::Kind kind);
/// Returns the packet's name for messages: "write packet 3 of queue pair 1 of NIC 0".
std::string describe(const Packet& packet);

/// a comes before b, modulo 2^32.
constexpr bool is_before(std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a - b) < 0; }

class PacketReceiver : public virtual sc_core::sc_interface {
 public:
  /// `sent`: when it was given to the wire.
  virtual void receive(const PacketPointer& packet, Picoseconds sent) = 0;
};

class PacketCarrier : public virtual sc_core::sc_interface {
 public:
  struct Departure {
    std::uint64_t leaves;  ///< time from now until the last byte has left
    std::uint64_t takes;   ///< the part of it in which its bytes leave
    bool is_lost;          ///< for figures: a sender cannot know
  };
  /// Takes the packet.
  virtual Departure send(const PacketPointer& packet) = 0;
};

}  // namespace t3vp::nic
