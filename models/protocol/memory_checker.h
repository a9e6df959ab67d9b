// Goes between two data sockets, passes everything on unchanged and at the same time, and holds each request for a
// GPU's own memory against what its software has said of it. One look-up for a request, whatever its shape.
#pragma once

#include <functional>
#include <string>

#include "protocol/data_protocol.h"
#include "protocol/memory_table.h"
#include "protocol/violations.h"

namespace t3vp {

class MemoryChecker : public sc_core::sc_module,
                      private tlm::tlm_fw_transport_if<DataProtocol>,
                      private tlm::tlm_bw_transport_if<DataProtocol> {
 public:
  tlm::tlm_target_socket<256, DataProtocol> in{"in"};
  tlm::tlm_initiator_socket<256, DataProtocol> out{"out"};

  using Name = std::function<std::string(const DataExtension& request)>;

  /// `who` names the initiator of a request for people. The GPU is the one whose memory the table is about.
  MemoryChecker(const sc_core::sc_module_name& name, Name who, std::uint16_t gpu, const MemoryTable& table,
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

  void check(const tlm::tlm_generic_payload& transaction);

  Name who_;
  std::uint16_t gpu_;
  const MemoryTable& table_;
  Violations& violations_;
};

}  // namespace t3vp
