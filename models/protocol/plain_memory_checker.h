// Does what a memory checker does, between sockets of the control path: for the accesses of a GPU's host program.
#pragma once

#include <tlm>

#include <string>

#include "protocol/memory_table.h"
#include "protocol/violations.h"

namespace t3vp {

/// Grants no direct access, so that it sees every one.
class PlainMemoryChecker : public sc_core::sc_module,
                           private tlm::tlm_fw_transport_if<>,
                           private tlm::tlm_bw_transport_if<> {
 public:
  tlm::tlm_target_socket<64> in{"in"};
  tlm::tlm_initiator_socket<64> out{"out"};

  PlainMemoryChecker(const sc_core::sc_module_name& name, std::string who, const MemoryTable& table,
                     Violations& violations);

 private:
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& transaction, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& transaction, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void b_transport(tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay) override;
  unsigned transport_dbg(tlm::tlm_generic_payload& transaction) override;
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& transaction, tlm::tlm_dmi& dmi) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64 begin, sc_dt::uint64 end) override;

  std::string who_;
  const MemoryTable& table_;
  Violations& violations_;
};

}  // namespace t3vp
