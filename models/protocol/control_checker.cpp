#include "protocol/control_checker.h"

#include <utility>
#include <vector>

#include "protocol/access_description.h"
#include "protocol/payload_record.h"
#include "protocol/request_check.h"

namespace t3vp {
namespace {

constexpr Violation::By by_initiator = Violation::By::initiator, by_target = Violation::By::target;

std::vector<const tlm::tlm_extension_base*> extensions_of(const tlm::tlm_generic_payload& transaction) {
  std::vector<const tlm::tlm_extension_base*> extensions;
  for (unsigned i = 0; i < tlm::max_num_extensions(); ++i) extensions.push_back(transaction.get_extension(i));
  return extensions;
}

}  // namespace

ControlChecker::ControlChecker(const sc_core::sc_module_name& name, std::string place, Violations& violations)
    : PassThrough(name), place_(std::move(place)), violations_(violations) {}

void ControlChecker::violated(Violation::By by, const char* rule, const tlm::tlm_generic_payload& transaction) {
  violations_.add({by, place_, rule, describe(transaction, now())});
}

/// False when the request is malformed.
bool ControlChecker::check_request(const tlm::tlm_generic_payload& transaction) {
  if (transaction.get_response_status() != tlm::TLM_INCOMPLETE_RESPONSE)
    violated(by_initiator, "request whose response status is not INCOMPLETE", transaction);
  const char* malformed = nullptr;
  if (transaction.get_data_length() == 0)
    malformed = "request of no bytes";
  else if (transaction.get_data_ptr() == nullptr)
    malformed = "request without data";
  else if (transaction.get_streaming_width() == 0)
    malformed = "request whose streaming width is 0";
  else if (transaction.get_byte_enable_ptr() != nullptr && transaction.get_byte_enable_length() == 0)
    malformed = "request whose byte enables have no length";
  if (malformed != nullptr) violated(by_initiator, malformed, transaction);
  return malformed == nullptr;
}

void ControlChecker::b_transport(tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay) {
  if (violations_.is_asleep()) return PassThrough::b_transport(transaction, delay);
  const bool well_formed = check_request(transaction);
  const PayloadRecord record(transaction);
  const auto extensions = extensions_of(transaction);
  const sc_core::sc_time local = sc_core::sc_time_stamp() + delay;
  out->b_transport(transaction, delay);
  if (transaction.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE)
    violated(by_target, "response whose status is INCOMPLETE", transaction);
  if (!well_formed && transaction.is_response_ok())
    violated(by_target, "malformed request answered with OK", transaction);
  if (sc_core::sc_time_stamp() + delay < local) violated(by_target, "delay made smaller", transaction);
  if (transaction.get_address() != record.address()) violated(by_target, "address changed", transaction);
  if (const char* rule = record.change(transaction)) violated(by_target, rule, transaction);
  if (extensions_of(transaction) != extensions) violated(by_target, "extension left behind or taken away", transaction);
}

unsigned ControlChecker::transport_dbg(tlm::tlm_generic_payload& transaction) {
  if (violations_.is_asleep()) return PassThrough::transport_dbg(transaction);
  const PayloadRecord record(transaction);
  const sc_core::sc_time begin = sc_core::sc_time_stamp();
  const sc_dt::uint64 cycle = sc_core::sc_delta_count();
  const unsigned bytes = out->transport_dbg(transaction);
  if (sc_core::sc_time_stamp() != begin || sc_core::sc_delta_count() != cycle)
    violated(by_target, "debug access that took time", transaction);
  if (bytes > transaction.get_data_length())
    violated(by_target, "debug access of more bytes than asked for", transaction);
  if (transaction.get_address() != record.address()) violated(by_target, "address changed", transaction);
  if (const char* rule = record.change(transaction)) violated(by_target, rule, transaction);
  return bytes;
}

bool ControlChecker::get_direct_mem_ptr(tlm::tlm_generic_payload& transaction, tlm::tlm_dmi& dmi) {
  const bool granted = out->get_direct_mem_ptr(transaction, dmi);
  const std::uint64_t address = transaction.get_address();
  if (granted && dmi.get_dmi_ptr() == nullptr)
    violated(by_target, "direct memory access granted without a pointer", transaction);
  if (granted && (address < dmi.get_start_address() || address > dmi.get_end_address()))
    violated(by_target, "direct memory access granted elsewhere than asked for", transaction);
  return granted;
}

}  // namespace t3vp
