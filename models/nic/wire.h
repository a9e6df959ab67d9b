// Joins NICs by their numbers: each end sends and receives at a bandwidth, with one latency between all. It may drop
// packets, but neither changes them nor their order.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "nic/network_parameters.h"
#include "nic/nic_packet.h"
#include "protocol/event_queue.h"

namespace t3vp::nic {

class Wire : public sc_core::sc_module, public PacketCarrier {
 public:
  /// NIC number n is bound n-th.
  sc_core::sc_port<PacketReceiver, 0> receivers{"receivers"};
  /// Says which packets are lost, once for each that is sent. Whose receiver is not there is lost, too.
  std::function<bool(const Packet&)> drops = [](const Packet&) { return false; };

  Wire(const sc_core::sc_module_name& name, const WireParameters& parameters);

  Departure send(const PacketPointer& packet) override;
  std::uint64_t packets() const { return packets_; }
  std::uint64_t lost() const { return lost_; }
  std::uint64_t bytes() const { return bytes_; }  ///< with headers, of all that was sent
  /// The packets that the injected loss has struck, and the first of them in words; empty while there is none.
  std::uint64_t struck() const { return struck_; }
  std::uint64_t struck_requests() const { return struck_requests_; }  ///< of those
  const std::string& first_struck() const { return first_struck_; }
  /// A fault from now on: the next packets of a NIC are lost.
  void lose(const WireParameters::Loss& loss) { parameters_.loss = loss; }

 private:
  struct End {
    Picoseconds sends_until = 0, receives_until = 0;
  };
  bool strikes(const Packet& packet);
  void step();

  WireParameters parameters_;
  std::vector<End> ends_;
  struct InFlight {
    PacketPointer packet;
    Picoseconds sent;
  };
  EventQueue<InFlight> events_{[this] { step(); }, Part::nic};
  std::uint64_t packets_ = 0, lost_ = 0, bytes_ = 0, struck_ = 0, struck_requests_ = 0;
  std::string first_struck_;
};

}  // namespace t3vp::nic
