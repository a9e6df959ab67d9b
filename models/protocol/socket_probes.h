// Joins sockets, with checkers in between where these are asked for. Without, nothing is made.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "protocol/control_checker.h"
#include "protocol/protocol_checker.h"

namespace t3vp {

class SocketProbes {
 public:
  /// Where the checkers are `asleep`, they pass everything on until wake().
  explicit SocketProbes(bool checked, bool asleep = false) : checked_(checked) {
    if (asleep) violations_.sleep();
  }

  template <typename Initiator, typename Target>
  void join(Initiator& initiator, Target& target) {
    join(initiator, target, std::string(initiator.name()) + " -> " + target.name());
  }
  /// `place` names the sockets for people.
  template <typename Initiator, typename Target>
  void join(Initiator& initiator, Target& target, const std::string& place) {
    if (!checked_) return initiator.bind(target);
    connect(initiator, target, place);
  }

  const Violations& violations() const { return violations_; }
  Violations& violations() { return violations_; }
  /// Checks what is sent from now on.
  void wake() { violations_.wake(); }
  /// Requests without a response so far, over all data sockets.
  std::size_t in_flight() const;

 private:
  using DataInitiator = tlm::tlm_base_initiator_socket_b<256, tlm::tlm_fw_transport_if<DataProtocol>,
                                                         tlm::tlm_bw_transport_if<DataProtocol>>;
  using DataTarget = tlm::tlm_base_target_socket_b<256, tlm::tlm_fw_transport_if<DataProtocol>,
                                                   tlm::tlm_bw_transport_if<DataProtocol>>;
  using ControlInitiator = tlm::tlm_base_initiator_socket_b<64, tlm::tlm_fw_transport_if<>, tlm::tlm_bw_transport_if<>>;
  using ControlTarget = tlm::tlm_base_target_socket_b<64, tlm::tlm_fw_transport_if<>, tlm::tlm_bw_transport_if<>>;

  void connect(DataInitiator& initiator, DataTarget& target, const std::string& place);
  void connect(ControlInitiator& initiator, ControlTarget& target, const std::string& place);

  bool checked_;
  Violations violations_;
  std::vector<std::unique_ptr<ProtocolChecker>> data_;
  std::vector<std::unique_ptr<ControlChecker>> control_;
};

}  // namespace t3vp
