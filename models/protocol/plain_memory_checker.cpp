#include "protocol/plain_memory_checker.h"

#include <utility>

#include "protocol/access_description.h"

namespace t3vp {

PlainMemoryChecker::PlainMemoryChecker(const sc_core::sc_module_name& name, std::string who, const MemoryTable& table,
                                       Violations& violations)
    : sc_module(name), who_(std::move(who)), table_(table), violations_(violations) {
  in.bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
  out.bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
}

tlm::tlm_sync_enum PlainMemoryChecker::nb_transport_fw(tlm::tlm_generic_payload& transaction, tlm::tlm_phase& phase,
                                                       sc_core::sc_time& delay) {
  return out->nb_transport_fw(transaction, phase, delay);
}

tlm::tlm_sync_enum PlainMemoryChecker::nb_transport_bw(tlm::tlm_generic_payload& transaction, tlm::tlm_phase& phase,
                                                       sc_core::sc_time& delay) {
  return in->nb_transport_bw(transaction, phase, delay);
}

void PlainMemoryChecker::b_transport(tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay) {
  const std::uint64_t begin = transaction.get_address(), end = begin + transaction.get_data_length();
  if (const auto fault = table_.fault_of(begin, end, false))
    violations_.add({Violation::By::initiator, who_, fault->rule,
                     describe(transaction, now() + from_sc_time(delay)) + "; " + fault->detail});
  out->b_transport(transaction, delay);
}

unsigned PlainMemoryChecker::transport_dbg(tlm::tlm_generic_payload& transaction) {
  return out->transport_dbg(transaction);
}

bool PlainMemoryChecker::get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi& dmi) {
  dmi.allow_none();
  return false;
}

void PlainMemoryChecker::invalidate_direct_mem_ptr(sc_dt::uint64 begin, sc_dt::uint64 end) {
  in->invalidate_direct_mem_ptr(begin, end);
}

}  // namespace t3vp
