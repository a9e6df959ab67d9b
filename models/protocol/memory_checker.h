// Go between sockets and hold each access to a GPU's own memory against what its software has said of it. One look-up
// for an access, whatever its shape.
#pragma once

#include <functional>
#include <string>

#include "protocol/memory_table.h"
#include "protocol/pass_through.h"
#include "protocol/violations.h"

namespace t3vp {

/// Between sockets of the data path.
class MemoryChecker : public DataPassThrough {
 public:
  using Name = std::function<std::string(const DataExtension& request)>;

  /// `who` names the initiator of a request for people. The GPU is the one whose memory the table is about.
  MemoryChecker(const sc_core::sc_module_name& name, Name who, std::uint16_t gpu, const MemoryTable& table,
                Violations& violations);

 private:
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& transaction, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void b_transport(tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay) override;

  void check(const tlm::tlm_generic_payload& transaction);

  Name who_;
  std::uint16_t gpu_;
  const MemoryTable& table_;
  Violations& violations_;
};

/// Between sockets of the control path, for the accesses of a GPU's host program.
class PlainMemoryChecker : public PlainPassThrough {
 public:
  PlainMemoryChecker(const sc_core::sc_module_name& name, std::string who, const MemoryTable& table,
                     Violations& violations);

 private:
  void b_transport(tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay) override;

  std::string who_;
  const MemoryTable& table_;
  Violations& violations_;
};

}  // namespace t3vp
