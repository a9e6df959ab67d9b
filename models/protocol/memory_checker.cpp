#include "protocol/memory_checker.h"

#include <utility>

#include "protocol/access_description.h"
#include "protocol/address_map.h"
#include "protocol/area.h"

namespace t3vp {

MemoryChecker::MemoryChecker(const sc_core::sc_module_name& name, Name who, std::uint16_t gpu, const MemoryTable& table,
                             Violations& violations)
    : PassThrough(name), who_(std::move(who)), gpu_(gpu), table_(table), violations_(violations) {}

/// A malformed request is not checked: its target refuses it. Nor is a read of the driver's memory refused: the
/// dispatcher reads packets there.
void MemoryChecker::check(const tlm::tlm_generic_payload& transaction) {
  const std::uint64_t begin = transaction.get_address();
  const auto* const extension = transaction.get_extension<DataExtension>();
  if (extension == nullptr || address_map::gpu_of(begin) != gpu_ || !address_map::is_hbm(begin)) return;
  const std::uint64_t end = Area{begin, extension->shape}.end();
  if (end <= begin) return;
  if (const auto fault = table_.fault_of(begin, end, !is_read(extension->operation)))
    violations_.add(
        {Violation::By::initiator, who_(*extension), fault->rule, describe(transaction, now()) + "; " + fault->detail});
}

tlm::tlm_sync_enum MemoryChecker::nb_transport_fw(tlm::tlm_generic_payload& transaction, tlm::tlm_phase& phase,
                                                  sc_core::sc_time& delay) {
  if (phase == tlm::BEGIN_REQ) check(transaction);
  return out->nb_transport_fw(transaction, phase, delay);
}

void MemoryChecker::b_transport(tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay) {
  check(transaction);
  out->b_transport(transaction, delay);
}

PlainMemoryChecker::PlainMemoryChecker(const sc_core::sc_module_name& name, std::string who, const MemoryTable& table,
                                       Violations& violations)
    : PlainPassThrough(name), who_(std::move(who)), table_(table), violations_(violations) {}

void PlainMemoryChecker::b_transport(tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay) {
  const std::uint64_t begin = transaction.get_address(), end = begin + transaction.get_data_length();
  if (const auto fault = table_.fault_of(begin, end, false))
    violations_.add({Violation::By::initiator, who_, fault->rule,
                     describe(transaction, now() + from_sc_time(delay)) + "; " + fault->detail});
  out->b_transport(transaction, delay);
}

}  // namespace t3vp
