#include "protocol/data_sockets.h"

#include <fmt/format.h>

#include <algorithm>

#include "protocol/access_description.h"
#include "protocol/address_map.h"

namespace t3vp {
namespace {

constexpr const char* message_type = "t3vp/protocol";

constexpr Malformed not_in_a_thread{tlm::TLM_GENERIC_ERROR_RESPONSE, malformed_argument,
                                    "b_transport from outside a thread process, which alone can wait"};

bool in_a_thread() {
  const sc_core::sc_curr_proc_kind kind = sc_core::sc_get_current_process_handle().proc_kind();
  return kind == sc_core::SC_THREAD_PROC_ || kind == sc_core::SC_CTHREAD_PROC_;
}

/// The arrival of the request, if it has one.
sc_core::sc_time time_of_refusal(const sc_core::sc_time& delay) {
  return malformed_delay(delay) == nullptr ? delay : sc_core::SC_ZERO_TIME;
}

/// Lends a blocking initiator's payload a memory manager, if it has none, while blocks may hold references to it.
class LentManager : public tlm::tlm_mm_interface {
 public:
  explicit LentManager(tlm::tlm_generic_payload& transaction)
      : transaction_(transaction), lent_(!transaction.has_mm()) {
    if (!lent_) return;
    transaction.set_mm(this);
    transaction.acquire();
  }
  /// Waits until no block holds a reference any more.
  void take_back() {
    if (!lent_) return;
    transaction_.release();
    if (transaction_.get_ref_count() != 0) sc_core::wait(freed_);
    transaction_.set_mm(nullptr);
  }
  void free(tlm::tlm_generic_payload* transaction) override {
    transaction->reset();
    freed_.notify(sc_core::SC_ZERO_TIME);
  }

 private:
  tlm::tlm_generic_payload& transaction_;
  bool lent_;
  sc_core::sc_event freed_;
};

}  // namespace

DataTargetBase::DataTargetBase(const char* name) : tlm::tlm_target_socket<256, DataProtocol>(name) { bind(forward_); }

void DataTargetBase::report_to(ErrorPort& errors, const char* block) {
  errors_ = &errors;
  block_ = block;
}

DataTargetBase::~DataTargetBase() = default;

void DataTargetBase::refuse(tlm::tlm_generic_payload& transaction, const Malformed& found) {
  const std::string text = fmt::format("{}: {}: {}", basename(), describe(transaction), found.text);
  transaction.set_response_status(found.response);
  if (errors_ != nullptr && errors_->size() != 0)
    (*errors_)->report(block_, {found.code, transaction.get_address(), text});
  else
    SC_REPORT_WARNING(message_type, fmt::format("{}: {}", name(), text).c_str());
}

void DataTargetBase::run_handler(Call& call, Picoseconds delay) {
  struct Running {  // also when the handler throws
    DataTargetBase& socket;
    explicit Running(DataTargetBase& s, Call& call) : socket(s) { s.calls_ = &call; }
    ~Running() { socket.calls_ = socket.calls_->outer; }
  } running(*this, call);
  handle(*call.transaction, delay);
}

void DataTargetBase::respond(tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  for (Call* call = calls_; call != nullptr; call = call->outer) {
    if (call->transaction != &transaction || call->answered) continue;
    call->answered = true;
    call->at = now() + delay;
    return;
  }
  for (Call*& call : waiting_) {
    if (call->transaction != &transaction) continue;
    call->answered = true;
    call->at = now() + delay;
    call->done->notify(sc_core::SC_ZERO_TIME);
    call = waiting_.back();
    waiting_.pop_back();
    return;
  }
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time time = to_sc_time(delay);
  (*this)->nb_transport_bw(transaction, phase, time);
}

/// A blocking initiator waits for the response and is not notified before.
void DataTargetBase::taken(tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  for (Call* call = calls_; call != nullptr; call = call->outer) {
    if (call->transaction != &transaction || call->answered) continue;
    call->taken = true;
    call->at = now() + delay;
    return;
  }
  for (const Call* call : waiting_)
    if (call->transaction == &transaction) return;
  tlm::tlm_phase phase = tlm::END_REQ;
  sc_core::sc_time time = to_sc_time(delay);
  (*this)->nb_transport_bw(transaction, phase, time);
}

tlm::tlm_sync_enum DataTargetBase::Forward::nb_transport_fw(tlm::tlm_generic_payload& transaction,
                                                            tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  if (const Malformed* found = malformed(transaction, phase, delay, socket_.rules_)) {
    socket_.refuse(transaction, *found);
    delay = time_of_refusal(delay);
    return tlm::TLM_COMPLETED;
  }
  Call call{&transaction, socket_.calls_};
  socket_.run_handler(call, from_sc_time(delay));
  if (!call.answered && !call.taken) return tlm::TLM_ACCEPTED;
  delay = to_sc_time(call.at - now());
  if (call.answered) return tlm::TLM_COMPLETED;
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

/// The initiator's thread waits until the response is known and returns with the rest of the time in `delay`.
void DataTargetBase::Forward::b_transport(tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay) {
  const Malformed* found = in_a_thread() ? malformed_delay(delay) : &not_in_a_thread;
  if (found == nullptr) found = malformed(transaction, socket_.rules_);
  if (found != nullptr) {
    delay = time_of_refusal(delay);
    return socket_.refuse(transaction, *found);
  }
  LentManager manager(transaction);
  sc_core::sc_event done;
  Call call{&transaction, socket_.calls_};
  call.done = &done;
  socket_.run_handler(call, from_sc_time(delay));
  if (!call.answered) {
    socket_.waiting_.push_back(&call);
    sc_core::wait(done);
  }
  manager.take_back();
  delay = to_sc_time(std::max(call.at, now()) - now());
}

unsigned DataTargetBase::Forward::transport_dbg(tlm::tlm_generic_payload& transaction) {
  return socket_.handle_debug(transaction);
}

/// Memory that a cache may hold must not be accessed past the cache.
bool DataTargetBase::Forward::get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi& dmi) {
  dmi.init();
  dmi.set_end_address(~sc_dt::uint64{0});
  return false;
}

DataInitiatorBase::DataInitiatorBase(const char* name) : tlm::tlm_initiator_socket<256, DataProtocol>(name) {
  m_export.bind(backward_);
}

DataInitiatorBase::~DataInitiatorBase() = default;

bool DataInitiatorBase::probe(std::uint64_t address, unsigned bytes) {
  tlm::tlm_generic_payload access;
  access.set_command(tlm::TLM_IGNORE_COMMAND);
  access.set_address(address);
  access.set_data_length(bytes);
  access.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  return (*this)->transport_dbg(access) == bytes && access.is_response_ok();
}

bool DataInitiatorBase::holds(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t last = address + (bytes - 1);
  return bytes != 0 && last >= address && address_map::gpu_of(last) == address_map::gpu_of(address) &&
         probe(address, 1) && probe(last, 1);
}

/// Anything but a notice for a store or update gives the initiator nothing to do; the request stays unanswered.
void DataInitiatorBase::notice(tlm::tlm_generic_payload& transaction, tlm::tlm_phase phase,
                               const sc_core::sc_time& delay) {
  if (phase == tlm::END_REQ && transaction.is_write() && transaction.get_extension<DataExtension>() != nullptr)
    return handle_taken(transaction, from_sc_time(delay));
  SC_REPORT_WARNING(message_type,
                    fmt::format("{}: {}: a target's phase {} where BEGIN_RESP, or END_REQ of a store, is expected",
                                name(), describe(transaction), static_cast<unsigned>(phase))
                        .c_str());
}

tlm::tlm_sync_enum DataInitiatorBase::Backward::nb_transport_bw(tlm::tlm_generic_payload& transaction,
                                                                tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  if (phase != tlm::BEGIN_RESP) {
    socket_.notice(transaction, phase, delay);
    return tlm::TLM_ACCEPTED;
  }
  socket_.handle(transaction, from_sc_time(delay));
  return tlm::TLM_COMPLETED;
}

}  // namespace t3vp
