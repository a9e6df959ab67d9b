// The target in place of the NIC in a GPU without one. It responds with address errors, and gives the reason.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <string>

#include "nic/nic_packet.h"
#include "protocol/data_sockets.h"
#include "protocol/error_report.h"

namespace t3vp::nic {

class AbsentNic : public sc_core::sc_module, public PacketReceiver {
 public:
  tlm_utils::simple_target_socket<AbsentNic, 64> registers{"registers"};
  DataTargetSocket<AbsentNic> doorbells{"doorbells", this, &AbsentNic::kernel_request};
  DataTargetSocket<AbsentNic> engine{"engine", this, &AbsentNic::engine_request};
  DataInitiatorSocket<AbsentNic> memory{"memory", this, &AbsentNic::no_response};  ///< nothing is ever sent
  sc_core::sc_out<bool> interrupt{"interrupt"};                                    ///< stays low
  ErrorPort errors{"errors"};

  AbsentNic(const sc_core::sc_module_name& name, std::uint16_t gpu);

  /// Packets for it are lost.
  void receive(const PacketPointer&, Picoseconds) override {}

 private:
  void register_access(tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay);
  unsigned debug(tlm::tlm_generic_payload& transaction);
  void kernel_request(int, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  void engine_request(int, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  void no_response(int, tlm::tlm_generic_payload&, Picoseconds) {}
  void refuse(tlm::tlm_generic_payload& transaction, std::uint64_t address);

  std::uint16_t gpu_;
};

}  // namespace t3vp::nic
