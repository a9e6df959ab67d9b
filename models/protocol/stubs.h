// Ends for the sockets that a bench leaves open.
#pragma once

#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

#include "protocol/data_sockets.h"

namespace t3vp {

/// Keeps the ends, so it has to live as long as the sockets.
class Stubs {
 public:
  using ControlInitiator = tlm::tlm_base_initiator_socket_b<64, tlm::tlm_fw_transport_if<>, tlm::tlm_bw_transport_if<>>;
  using ControlTarget = tlm::tlm_base_target_socket_b<64, tlm::tlm_fw_transport_if<>, tlm::tlm_bw_transport_if<>>;

  /// Nothing is there: what the block sends is answered with ADDRESS_ERROR when it arrives, debug accesses reach
  /// nothing.
  void stub(DataInitiatorBase& socket);
  void stub(ControlInitiator& socket);
  /// Binds the socket to an initiator that never sends.
  void stub(DataTargetBase& socket);
  void stub(ControlTarget& socket);

 private:
  std::vector<std::unique_ptr<sc_core::sc_module>> ends_;
};

}  // namespace t3vp
