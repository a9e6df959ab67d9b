// The NIC's way out to the wire, with what is counted and shown of it.
#pragma once

#include "nic/nic_packet.h"
#include "protocol/trace.h"

namespace t3vp::nic {

class Transmitter {
 public:
  struct Figures {
    std::uint64_t payload = 0, packets = 0, wire_bytes = 0, lost = 0;
    Picoseconds sending = 0;
  };

  explicit Transmitter(sc_core::sc_port<PacketCarrier>& wire) : wire_(wire) {}

  void show_on(Trace* trace, Trace::Track track) {
    trace_ = trace;
    track_ = track;
  }
  /// Returns the time from now until the packet has left.
  Picoseconds send(const PacketPointer& packet);
  const Figures& figures() const { return figures_; }

 private:
  void show(const Packet& packet, const PacketCarrier::Departure& departure);

  sc_core::sc_port<PacketCarrier>& wire_;
  Figures figures_;
  Trace* trace_ = nullptr;
  Trace::Track track_ = 0;
};

}  // namespace t3vp::nic
