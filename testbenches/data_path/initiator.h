// Sends accesses on the data path and keeps every answer with its time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "protocol/data_sockets.h"
#include "protocol/ring_signal.h"
#include "protocol/transaction_pool.h"

namespace t3vp {

struct DataAccess {
  Operation operation = Operation::load;
  std::uint64_t address = 0;
  Shape shape;
  std::vector<unsigned char> data;  ///< of a store or update, packed; empty: timing only
  Stream stream = Stream::compute;
  TrafficClass traffic = TrafficClass::gemm_read;
  ElementType element = ElementType::fp16;
  Producer producer;
  std::uint64_t threshold = 0;
  std::shared_ptr<const RingSignal> ring = nullptr;
  std::uint8_t queue = 0;
  Lane lane = {};
  std::uint64_t addend = 0;
  bool real = false;
};

struct DataAnswer {
  unsigned count = 0;  ///< of answers: 1 in the end
  unsigned taken = 0;  ///< notices before the answer, at most 1
  Picoseconds arrival = 0;
  Picoseconds taken_at = 0;
  Picoseconds at = 0;
  tlm::tlm_response_status status = tlm::TLM_INCOMPLETE_RESPONSE;
  std::vector<unsigned char> data;  ///< what a load returned
  std::uint32_t refusal = 0;        ///< of the extension, and in words
  std::string why;

  bool ok() const { return count == 1 && status == tlm::TLM_OK_RESPONSE; }
};

class DataInitiator : public sc_core::sc_module {
 public:
  DataInitiatorSocket<DataInitiator> socket{"socket", this, &DataInitiator::response};

  explicit DataInitiator(const sc_core::sc_module_name& name) : sc_module(name) {
    socket.on_taken(&DataInitiator::taken);
  }

  /// The access reaches the target after `delay`. Returns its number, which answer() understands.
  std::size_t send(const DataAccess& access, Picoseconds delay = 0) {
    Transaction& transaction = pool_.make(access.operation, access.address, access.shape);
    DataExtension& extension = transaction.extension();
    extension.stream = access.stream;
    extension.traffic = access.traffic;
    extension.element = access.element;
    extension.producer = access.producer;
    extension.threshold = access.threshold;
    extension.addend = access.addend;
    extension.real = access.real;
    extension.ring = access.ring;
    extension.queue = access.queue;
    extension.fabric.lane = access.lane;
    if (access.operation == Operation::load || access.operation == Operation::fetch_add || !access.data.empty())
      transaction.attach_buffer();
    std::copy(access.data.begin(), access.data.end(), transaction.get_data_ptr());
    return send(transaction, delay);
  }

  /// The same for a payload that the test has made itself; it must have a memory manager.
  std::size_t send(tlm::tlm_generic_payload& transaction, Picoseconds delay = 0) {
    const std::size_t number = answers_.size();
    answers_.emplace_back();
    answers_[number].arrival = now() + delay;
    in_flight_.push_back({&transaction, number});
    socket.send(transaction, delay);
    return number;
  }

  const DataAnswer& answer(std::size_t number) const { return answers_.at(number); }
  const std::vector<DataAnswer>& answers() const { return answers_; }
  std::size_t unanswered() const { return in_flight_.size(); }
  /// Those among them that still hold their place here.
  std::size_t untaken() const {
    return static_cast<std::size_t>(std::count_if(
        in_flight_.begin(), in_flight_.end(), [&](const InFlight& sent) { return answers_[sent.number].taken == 0; }));
  }
  /// Answers to nothing that was sent, or second answers.
  std::size_t stray_answers() const { return stray_; }

 private:
  struct InFlight {
    tlm::tlm_generic_payload* transaction;
    std::size_t number;
  };

  std::vector<InFlight>::iterator find(const tlm::tlm_generic_payload& transaction) {
    return std::find_if(in_flight_.begin(), in_flight_.end(),
                        [&](const InFlight& sent) { return sent.transaction == &transaction; });
  }

  void taken(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
    const auto found = find(transaction);
    if (found == in_flight_.end()) {
      ++stray_;
      return;
    }
    ++answers_[found->number].taken;
    answers_[found->number].taken_at = now() + delay;
  }

  void response(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
    const auto found = find(transaction);
    if (found == in_flight_.end()) {
      ++stray_;
      return;
    }
    DataAnswer& answer = answers_[found->number];
    in_flight_.erase(found);
    ++answer.count;
    answer.at = now() + delay;
    answer.status = transaction.get_response_status();
    if (const DataExtension* extension = transaction.get_extension<DataExtension>()) {
      answer.refusal = extension->refusal;
      if (extension->ring != nullptr) answer.why = extension->ring->why;
    }
    if (transaction.is_read() && transaction.get_data_ptr() != nullptr)
      answer.data.assign(transaction.get_data_ptr(), transaction.get_data_ptr() + transaction.get_data_length());
    transaction.release();
  }

  TransactionPool pool_;
  std::vector<InFlight> in_flight_;
  std::vector<DataAnswer> answers_;
  std::size_t stray_ = 0;
};

}  // namespace t3vp
