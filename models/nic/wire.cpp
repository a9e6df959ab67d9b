#include "nic/wire.h"

#include <algorithm>

#include "nic/wire_ranges.h"
#include "protocol/checked_parameters.h"

namespace t3vp::nic {

Wire::Wire(const sc_core::sc_module_name& name, const WireParameters& parameters)
    : sc_module(checked(name, parameters)), parameters_(parameters) {}

/// A receiver to which several send gets their packets one after the other, in the order in which they were sent.
PacketCarrier::Departure Wire::send(const PacketPointer& packet) {
  ends_.resize(static_cast<std::size_t>(receivers.size()));
  const Picoseconds time = transfer_time(wire_bytes(*packet), parameters_.GBps);
  End& sender = ends_.at(packet->from_nic);
  sender.sends_until = std::max(sender.sends_until, now()) + time;
  ++packets_;
  bytes_ += wire_bytes(*packet);
  const bool is_lost = strikes(*packet) || packet->to_nic >= ends_.size() || drops(*packet);
  if (is_lost) {
    ++lost_;
  } else {
    End& receiver = ends_[packet->to_nic];
    receiver.receives_until = std::max(sender.sends_until + parameters_.latency, receiver.receives_until + time);
    events_.push(receiver.receives_until, {packet, now()});
  }
  return {sender.sends_until - now(), time, is_lost};
}

bool Wire::strikes(const Packet& packet) {
  if (packet.from_nic != parameters_.loss.nic || struck_ == parameters_.loss.packets) return false;
  if (struck_++ == 0) first_struck_ = describe(packet);
  struck_requests_ += packet.is_request();
  return true;
}

void Wire::step() {
  while (events_.ready()) {
    const InFlight arrived = events_.pop();
    receivers[arrived.packet->to_nic]->receive(arrived.packet, arrived.sent);
  }
  events_.arm();
}

}  // namespace t3vp::nic
