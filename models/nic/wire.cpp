#include "nic/wire.h"

#include <algorithm>
#include <utility>

#include "nic/wire_ranges.h"
#include "protocol/checked_parameters.h"

namespace t3vp::nic {

Wire::Wire(const sc_core::sc_module_name& name, const WireParameters& parameters)
    : sc_module(checked(name, parameters)), parameters_(parameters) {}

void Wire::end_of_elaboration() {
  for (std::size_t nic = 0; nic < static_cast<std::size_t>(receivers.size()); ++nic)
    ends_.emplace_back([this, nic] { deliver(nic); });
}

void Wire::cut(WireBoundary& boundary, std::vector<bool> is_elsewhere) {
  boundary_ = &boundary;
  is_elsewhere_ = std::move(is_elsewhere);
}

PacketCarrier::Departure Wire::send(const PacketPointer& packet) {
  const Picoseconds time = transfer_time(wire_bytes(*packet), parameters_.GBps);
  End& sender = ends_.at(packet->from_nic);
  sender.sends_until = std::max(sender.sends_until, now()) + time;
  ++packets_;
  bytes_ += wire_bytes(*packet);
  const bool is_lost = strikes(*packet) || packet->to_nic >= ends_.size() || drops(*packet);
  if (is_lost) {
    ++lost_;
  } else {
    Passage passage{packet, now(), sender.sends_until + parameters_.latency, Cause::current()};
    if (is_elsewhere(packet->to_nic))
      boundary_->send(passage);
    else
      arrive(std::move(passage));
  }
  return {sender.sends_until - now(), time, is_lost};
}

bool Wire::strikes(const Packet& packet) {
  if (packet.from_nic != parameters_.loss.nic || struck_ == parameters_.loss.packets) return false;
  if (struck_++ == 0) first_struck_ = describe(packet);
  struck_requests_ += packet.is_request();
  return true;
}

/// Packets of one NIC come here in the order of their sending.
void Wire::arrive(Passage passage) {
  End& end = ends_[passage.packet->to_nic];
  const auto goes_before = [](const Passage& one, const Passage& other) {
    return std::pair(one.sent, one.packet->from_nic) < std::pair(other.sent, other.packet->from_nic);
  };
  const auto place = std::upper_bound(end.incoming.begin(), end.incoming.end(), passage, goes_before);
  end.incoming.insert(place, std::move(passage));
  end.deliveries.run_at(next_delivery(end));
}

Picoseconds Wire::next_delivery(const End& end) const {
  if (end.incoming.empty()) return never;
  const Passage& next = end.incoming.front();
  return std::max(next.arrives, end.receives_until + transfer_time(wire_bytes(*next.packet), parameters_.GBps));
}

void Wire::deliver(std::size_t nic) {
  End& end = ends_[nic];
  Passage next = std::move(end.incoming.front());
  end.incoming.pop_front();
  end.receives_until = now();
  end.deliveries.run_at(next_delivery(end));
  next.cause.extend(now(), Part::nic);
  Cause::current() = std::move(next.cause);
  receivers[static_cast<int>(nic)]->receive(next.packet, next.sent);
}

}  // namespace t3vp::nic
