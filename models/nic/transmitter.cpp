#include "nic/transmitter.h"

#include "protocol/units.h"

namespace t3vp::nic {

Picoseconds Transmitter::send(const PacketPointer& packet) {
  const PacketCarrier::Departure departure = wire_->send(packet);
  figures_.payload += packet->payload();
  ++figures_.packets;
  figures_.wire_bytes += wire_bytes(*packet);
  figures_.sending += departure.takes;
  if (departure.is_lost) ++figures_.lost;
  if (trace_ != nullptr) show(*packet, departure);
  return departure.leaves;
}

/// The arrow to a message ends at its first packet.
void Transmitter::show(const Packet& packet, const PacketCarrier::Departure& departure) {
  const Picoseconds end = now() + departure.leaves, begin = end - departure.takes;
  if (packet.is_write() && packet.first)
    trace_->span(track_, name_of(packet.kind), begin, end, flow_to(packet.address));
  else
    trace_->span(track_, name_of(packet.kind), begin, end);
}

}  // namespace t3vp::nic
