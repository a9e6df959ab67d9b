// Goes between any two sockets of the control path (base protocol, 64 bits), passes everything on unchanged and at the
// same time, and notes what breaks the base protocol's rules of b_transport, debug transport and DMI. The control path
// is loosely timed; nb_transport passes unchecked.
#pragma once

#include <string>

#include "protocol/pass_through.h"
#include "protocol/violations.h"

namespace t3vp {

class ControlChecker : public PassThrough<64> {
 public:
  /// `place` names the sockets for people.
  ControlChecker(const sc_core::sc_module_name& name, std::string place, Violations& violations);

 private:
  void b_transport(tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay) override;
  unsigned transport_dbg(tlm::tlm_generic_payload& transaction) override;
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& transaction, tlm::tlm_dmi& dmi) override;

  bool check_request(const tlm::tlm_generic_payload& transaction);
  void violated(Violation::By by, const char* rule, const tlm::tlm_generic_payload& transaction);

  std::string place_;
  Violations& violations_;
};

}  // namespace t3vp
