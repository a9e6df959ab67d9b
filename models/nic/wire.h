// Joins NICs by their numbers: each end sends and receives at a bandwidth, with one latency between all. It may drop
// packets, but neither changes them nor their order.
//
// A receiver gets its packets one after the other, in the order in which they were given to the wire. Of packets given
// at one time, that of the NIC with the lower number goes first. So the order follows from the packets alone, and all
// that comes before a packet is there when it arrives: the ends may be in several processes (wire_boundary.h).
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "nic/network_parameters.h"
#include "nic/wire_boundary.h"
#include "protocol/agenda.h"

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

  /// The NICs for which `is_elsewhere` is true are in other processes, to which the boundary leads. It outlives the
  /// simulation.
  void cut(WireBoundary& boundary, std::vector<bool> is_elsewhere);
  /// A packet to a NIC of this process is on its way.
  void arrive(Passage passage);

 private:
  struct End {
    explicit End(std::function<void()> deliver) : deliveries(std::move(deliver)) {}
    Picoseconds sends_until = 0, receives_until = 0;
    std::deque<Passage> incoming;  ///< in the order of their arrival
    Activity deliveries;
  };
  void end_of_elaboration() override;
  bool strikes(const Packet& packet);
  bool is_elsewhere(std::uint16_t nic) const { return nic < is_elsewhere_.size() && is_elsewhere_[nic]; }
  Picoseconds next_delivery(const End& end) const;
  void deliver(std::size_t nic);

  WireParameters parameters_;
  std::deque<End> ends_;
  WireBoundary* boundary_ = nullptr;
  std::vector<bool> is_elsewhere_;  ///< by NIC; those beyond its end are here
  std::uint64_t packets_ = 0, lost_ = 0, bytes_ = 0, struck_ = 0, struck_requests_ = 0;
  std::string first_struck_;
};

}  // namespace t3vp::nic
