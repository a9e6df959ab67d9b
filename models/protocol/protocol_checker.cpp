#include "protocol/protocol_checker.h"

#include <fmt/format.h>

#include <utility>

#include "protocol/access_description.h"
#include "protocol/request_check.h"
#include "protocol/sent_fields.h"

namespace t3vp {
namespace {

constexpr Violation::By initiator = Violation::By::initiator, target = Violation::By::target;
constexpr RequestRules anything{false, true, true};  // the checker does not know what its target expects

const char* text_of(const Malformed* found) { return found == nullptr ? nullptr : found->text; }

/// A mapped store becomes an update on its way.
bool may_become(Operation sent, Operation now) {
  return sent == now || (sent == Operation::store && now == Operation::update) ||
         (sent == Operation::update && now == Operation::store);
}

}  // namespace

ProtocolChecker::ProtocolChecker(const sc_core::sc_module_name& name, std::string place, Violations& violations)
    : PassThrough(name), place_(std::move(place)), violations_(violations) {}

void ProtocolChecker::violated(Violation::By by, const char* rule, const tlm::tlm_generic_payload& transaction) {
  violations_.add({by, place_, rule, describe(transaction, now())});
}

ProtocolChecker::Request ProtocolChecker::begin(const tlm::tlm_generic_payload& transaction,
                                                const sc_core::sc_time& delay, const char* malformed) {
  Request request(transaction);
  request.malformed = malformed != nullptr;
  if (malformed != nullptr) violated(initiator, malformed, transaction);
  if (transaction.get_response_status() != tlm::TLM_INCOMPLETE_RESPONSE)
    violated(initiator, "request whose response status is not INCOMPLETE", transaction);
  request.extension = transaction.get_extension<DataExtension>();
  if (request.extension != nullptr) request.sent = *request.extension;
  request.sent_at = now();
  request.since = request.arrival = malformed_delay(delay) == nullptr ? now() + from_sc_time(delay) : now();
  return request;
}

/// Checks a notice: it comes once, for a store or update in flight.
void ProtocolChecker::take(const tlm::tlm_generic_payload& transaction, const sc_core::sc_time& delay) {
  const auto found = in_flight_.find(&transaction);
  if (found == in_flight_.end() && violations_.was_asleep()) return;
  if (found == in_flight_.end()) return violated(target, "notice of nothing that is under way", transaction);
  Request& request = found->second;
  if (request.taken) violated(target, "request taken twice", transaction);
  if (!transaction.is_write()) violated(target, "notice of a request that is neither store nor update", transaction);
  if (transaction.get_response_status() != tlm::TLM_INCOMPLETE_RESPONSE)
    violated(target, "notice with a response status, which the response brings", transaction);
  request.taken = true;
  if (malformed_delay(delay) != nullptr) return violated(target, "notice with a delay that wraps", transaction);
  if (now() + from_sc_time(delay) < request.arrival) violated(target, "request taken before it arrives", transaction);
  request.since = now() + from_sc_time(delay);
}

const char* ProtocolChecker::changed(const Request& request, const tlm::tlm_generic_payload& transaction) const {
  if (const char* rule = request.record.change(transaction)) return rule;
  const DataExtension* extension = transaction.get_extension<DataExtension>();
  if (extension != request.extension) return "extension exchanged";
  if (extension == nullptr) return nullptr;
  const DataExtension& sent = request.sent;
  if (!may_become(sent.operation, extension->operation)) return "operation changed";
  if (extension->shape.rows != sent.shape.rows || extension->shape.row_bytes != sent.shape.row_bytes ||
      extension->shape.stride != sent.shape.stride)
    return "shape changed";
  if (extension->element != sent.element) return "element type changed";
  if (extension->threshold != sent.threshold) return "threshold changed";
  if (extension->addend != sent.addend) return "addend changed";
  if (extension->real != sent.real) return "real changed";
  if (extension->fabric.asked != sent.fabric.asked) return "what a request or answer is about changed";
  if (extension->token != sent.token) return "token changed";
  if (extension->queue != sent.queue) return "queue changed";
  return nullptr;
}

void ProtocolChecker::end(const Request& request, const tlm::tlm_generic_payload& transaction,
                          const sc_core::sc_time& delay) {
  if (transaction.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE)
    violated(target, "response whose status is INCOMPLETE", transaction);
  if (request.malformed && transaction.is_response_ok())
    violated(target, "malformed request answered with OK", transaction);
  if (malformed_delay(delay) != nullptr)
    violated(target, "response with a delay that wraps", transaction);
  else if (now() + from_sc_time(delay) < request.since)
    violated(target, request.taken ? "response before its request is taken" : "response before its request arrives",
             transaction);
  if (const char* rule = changed(request, transaction))
    violated(target, rule, transaction);
  else
    check_sent_fields(request, transaction);
  SentRequests::of_process().ended(transaction);
}

/// Checks the fields that a block may change when it sends the request on: a response has them as they were sent.
void ProtocolChecker::check_sent_fields(const Request& request, const tlm::tlm_generic_payload& transaction) {
  const char* rule = change_since(SentRequests::of_process().fields_of(transaction), SentFields(transaction));
  if (rule == nullptr) return;
  violations_.add({target, place_, rule,
                   fmt::format("{}, sent to {:#x} at {:.3f} ns", describe(transaction, now()), request.record.address(),
                               to_ns(request.sent_at))});
}

tlm::tlm_sync_enum ProtocolChecker::nb_transport_fw(tlm::tlm_generic_payload& transaction, tlm::tlm_phase& phase,
                                                    sc_core::sc_time& delay) {
  if (violations_.is_asleep()) return DataPassThrough::nb_transport_fw(transaction, phase, delay);
  const bool again = in_flight_.count(&transaction) != 0;
  if (again) violated(initiator, "request sent again before its response", transaction);
  const Request request = begin(transaction, delay, text_of(malformed(transaction, phase, delay, anything)));
  if (!again) {
    in_flight_.emplace(&transaction, request);
    SentRequests::of_process().sent(transaction);
  }
  const tlm::tlm_phase sent = phase;
  ++request_calls_;
  const tlm::tlm_sync_enum answer = out->nb_transport_fw(transaction, phase, delay);
  --request_calls_;
  if (answer == tlm::TLM_COMPLETED) {
    if (in_flight_.erase(&transaction) == 0)
      violated(target, "request completed that has had its response", transaction);
    else
      end(request, transaction, delay);
  } else if (answer == tlm::TLM_UPDATED && phase == tlm::END_REQ) {
    take(transaction, delay);
  } else if (answer != tlm::TLM_ACCEPTED || phase != sent) {
    violated(target, "request answered with neither TLM_ACCEPTED nor TLM_COMPLETED nor TLM_UPDATED and END_REQ",
             transaction);
  }
  return answer;
}

tlm::tlm_sync_enum ProtocolChecker::nb_transport_bw(tlm::tlm_generic_payload& transaction, tlm::tlm_phase& phase,
                                                    sc_core::sc_time& delay) {
  if (violations_.is_asleep()) return DataPassThrough::nb_transport_bw(transaction, phase, delay);
  if (request_calls_ != 0) violated(target, "response or notice within a request call", transaction);
  if (phase == tlm::END_REQ) {
    take(transaction, delay);
  } else if (phase != tlm::BEGIN_RESP) {
    violated(target, "phase other than END_REQ and BEGIN_RESP", transaction);
  } else if (const auto found = in_flight_.find(&transaction); found != in_flight_.end()) {
    const Request request = found->second;
    in_flight_.erase(found);  // the payload may be on its next way before the call returns
    end(request, transaction, delay);
  } else if (!violations_.was_asleep()) {
    violated(target, "response to nothing that is under way", transaction);
  }
  const bool response = phase == tlm::BEGIN_RESP, notice = phase == tlm::END_REQ;
  const std::uint64_t address = transaction.get_address();
  const unsigned bytes = transaction.get_data_length();
  const tlm::tlm_sync_enum answer = in->nb_transport_bw(transaction, phase, delay);
  if ((response && answer != tlm::TLM_COMPLETED) || (notice && answer != tlm::TLM_ACCEPTED))
    violations_.add({initiator, place_,
                     response ? "response not answered with TLM_COMPLETED" : "notice not answered with TLM_ACCEPTED",
                     fmt::format("access of {} bytes at {:#x} at {:.3f} ns", bytes, address, to_ns(now()))});
  return answer;
}

void ProtocolChecker::b_transport(tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay) {
  if (violations_.is_asleep()) return DataPassThrough::b_transport(transaction, delay);
  const Malformed* found = malformed_delay(delay);
  if (found == nullptr) found = malformed(transaction, anything);
  const Request request = begin(transaction, delay, text_of(found));
  const bool had_manager = transaction.has_mm();
  const int references = transaction.get_ref_count();
  SentRequests::of_process().sent(transaction);
  out->b_transport(transaction, delay);
  end(request, transaction, delay);
  if (transaction.has_mm() != had_manager || transaction.get_ref_count() != references)
    violated(target, "blocking request returned with references held or another memory manager", transaction);
}

unsigned ProtocolChecker::transport_dbg(tlm::tlm_generic_payload& transaction) {
  if (violations_.is_asleep()) return DataPassThrough::transport_dbg(transaction);
  const Request request(transaction);
  const Picoseconds begin = now();
  const sc_dt::uint64 cycle = sc_core::sc_delta_count();
  const unsigned bytes = out->transport_dbg(transaction);
  if (now() != begin || sc_core::sc_delta_count() != cycle)
    violated(target, "debug access that took time", transaction);
  if (bytes > transaction.get_data_length()) violated(target, "debug access of more bytes than asked for", transaction);
  if (bytes < transaction.get_data_length() && transaction.is_response_ok())
    violated(target, "debug access of fewer bytes than asked for answered with OK", transaction);
  if (const char* rule = request.record.change(transaction)) violated(target, rule, transaction);
  if (transaction.get_address() != request.record.address())
    violations_.add({target, place_, "address of a debug access changed",
                     fmt::format("{}, sent to {:#x}", describe(transaction, now()), request.record.address())});
  return bytes;
}

bool ProtocolChecker::get_direct_mem_ptr(tlm::tlm_generic_payload& transaction, tlm::tlm_dmi& dmi) {
  const bool granted = out->get_direct_mem_ptr(transaction, dmi);
  if (granted) violated(target, "direct memory access granted on the data path", transaction);
  return granted;
}

}  // namespace t3vp
