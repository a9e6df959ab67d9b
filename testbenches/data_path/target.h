// Takes accesses of the data path and records what arrived and when. It responds after a delay, or when the test lets
// it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "protocol/address_map.h"
#include "protocol/data_sockets.h"
#include "protocol/event_queue.h"

namespace t3vp {

class DataTarget : public sc_core::sc_module {
 public:
  struct Arrival {
    Picoseconds at;
    std::uint64_t address;
    DataExtension extension;
    std::vector<unsigned char> data;
  };

  DataTargetSocket<DataTarget> socket{"socket", this, &DataTarget::request};
  Picoseconds latency = 0;  ///< from arrival to answer
  bool holds = false;       ///< answers only by answer_one()
  /// Effect and response status of an access.
  std::function<tlm::tlm_response_status(tlm::tlm_generic_payload&)> serve = [](tlm::tlm_generic_payload&) {
    return tlm::TLM_OK_RESPONSE;
  };
  /// Whether a debug access without data finds a way.
  std::function<bool(std::uint64_t)> reaches = [](std::uint64_t) { return true; };

  std::uint64_t capacity = address_map::hbm_limit;  ///< bytes of the memory that it finds there

  explicit DataTarget(const sc_core::sc_module_name& name) : sc_module(name) {
    socket.on_debug(&DataTarget::debug);
    socket.expect({false, true});
  }

  /// Takes what has arrived and is held after `delay`, without an answer.
  void take_all(Picoseconds delay = 0) {
    for (const Held& held : held_) socket.taken(*held.transaction, delay);
  }

  const std::vector<Arrival>& arrivals() const { return arrivals_; }
  /// Payload bytes that have arrived and are not answered.
  std::uint64_t bytes_held() const { return bytes_held_; }
  std::uint64_t most_bytes_held() const { return most_bytes_held_; }

  void answer_one() {
    const Held held = held_.front();
    held_.pop_front();
    answer(held);
  }
  void answer_all() {
    while (!held_.empty()) answer_one();
  }

 private:
  struct Held {
    tlm::tlm_generic_payload* transaction;
    tlm::tlm_response_status status;
  };

  void request(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
    transaction.acquire();
    bytes_held_ += transaction.get_data_length();
    most_bytes_held_ = std::max(most_bytes_held_, bytes_held_);
    events_.push(now() + delay, &transaction);
  }

  unsigned debug(int, tlm::tlm_generic_payload& transaction) {
    const std::uint64_t address = transaction.get_address();
    const bool reached =
        reaches(address) && (transaction.get_data_length() == 0 || address_map::local_of(address) < capacity);
    transaction.set_response_status(reached ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return reached ? transaction.get_data_length() : 0;
  }

  void step() {
    while (events_.ready()) {
      tlm::tlm_generic_payload& transaction = *events_.pop();
      const unsigned char* data = transaction.get_data_ptr();
      arrivals_.push_back({now(), transaction.get_address(), extension_of(transaction), {}});
      if (data != nullptr && transaction.is_write())
        arrivals_.back().data.assign(data, data + transaction.get_data_length());
      const tlm::tlm_response_status status = serve(transaction);
      if (holds)
        held_.push_back({&transaction, status});
      else
        answer({&transaction, status});
    }
    events_.arm();
  }

  void answer(const Held& held) {
    tlm::tlm_generic_payload& transaction = *held.transaction;
    transaction.set_response_status(held.status);
    bytes_held_ -= transaction.get_data_length();
    socket.respond(transaction, latency);
    transaction.release();
  }

  EventQueue<tlm::tlm_generic_payload*> events_{[this] { step(); }};
  std::deque<Held> held_;
  std::vector<Arrival> arrivals_;
  std::uint64_t bytes_held_ = 0, most_bytes_held_ = 0;
};

}  // namespace t3vp
