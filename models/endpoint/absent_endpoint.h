// The target in place of the endpoint engine's registers in a GPU without one. It responds with address errors, and
// gives the reason.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include "protocol/error_report.h"

namespace t3vp::endpoint {

class AbsentEndpoint : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<AbsentEndpoint, 64> registers{"registers"};
  sc_core::sc_out<bool> interrupt{"interrupt"};  ///< stays low
  ErrorPort errors{"errors"};

  AbsentEndpoint(const sc_core::sc_module_name& name, std::uint16_t gpu);

 private:
  void access(tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay);
  unsigned debug(tlm::tlm_generic_payload& transaction);

  std::uint16_t gpu_;
};

}  // namespace t3vp::endpoint
