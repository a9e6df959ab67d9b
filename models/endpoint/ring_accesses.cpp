// What a ring sends to memory and to the next GPU, what comes back, and how it fails.
#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "endpoint/ring_collectives.h"
#include "protocol/access_description.h"
#include "protocol/response_status.h"

namespace t3vp::endpoint {
namespace {

constexpr std::uint32_t failure_bytes = 32;
constexpr std::uint64_t number_mask = (std::uint64_t{1} << 40) - 1;

}  // namespace

Transaction& RingCollectives::access(Operation operation, std::uint64_t address, const Unit& unit,
                                     std::uint64_t number) {
  Transaction& transaction = engine_.pool.make(operation, address, {1, unit.message.bytes, 0});
  DataExtension& extension = transaction.extension();
  extension.stream = Stream::communication;
  extension.cached = false;
  extension.element = unit.active->collective.element;
  extension.producer.gpu = engine_.gpu;
  extension.token = token_of(number);
  if (engine_.functional) transaction.attach_buffer();
  return transaction;
}

void RingCollectives::load(std::uint64_t number, Unit& unit) {
  ++buffers_used_;
  note_use();
  Transaction& transaction =
      access(Operation::load, unit.active->collective.buffer + unit.message.offset, unit, number);
  transaction.extension().traffic =
      unit.plan().operation == RingOperation::all_gather ? TrafficClass::ag_read : TrafficClass::rs_read;
  transaction.extension().order = unit.active->collective.order;
  engine_.memory.send(transaction, engine_.latency);
}

void RingCollectives::send(std::uint64_t number, Unit& unit) {
  const Collective& collective = unit.active->collective;
  Transaction& message =
      access(Operation::store, address_at(collective.next, number_, unit.message.offset), unit, number);
  DataExtension& extension = message.extension();
  extension.traffic = unit.plan().is_complete(unit.message.step) ? TrafficClass::ag_write : TrafficClass::rs_write;
  extension.producer = {collective.number, static_cast<std::uint8_t>(collective.plan.operation), engine_.gpu};
  if (engine_.functional) std::memcpy(message.get_data_ptr(), unit.data.data(), unit.data.size());
  ++unanswered_;
  ++messages_;
  sent_bytes_ += unit.message.bytes;
  engine_.remote.send(message, engine_.sram.end_of(unit.message.bytes) - now());
}

void RingCollectives::store(std::uint64_t number, Unit& unit) {
  Transaction& transaction =
      access(Operation::store, unit.active->collective.buffer + unit.message.offset, unit, number);
  transaction.extension().traffic = unit.loads() ? TrafficClass::rs_write : TrafficClass::ag_write;
  transaction.extension().order = unit.active->collective.order;
  if (engine_.functional) std::memcpy(transaction.get_data_ptr(), unit.data.data(), unit.data.size());
  engine_.memory.send(transaction, engine_.sram.end_of(unit.message.bytes) - now() + engine_.latency);
}

/// A load has its data, a message has left on a link or has been answered, or memory has a result.
void RingCollectives::end_access(const RingEvent& event) {
  Transaction& transaction = static_cast<Transaction&>(*event.transaction);
  if (transaction.extension().token >> 48 != generation_) {
    if (event.what != RingEvent::left) transaction.release();
    return;
  }
  const std::uint64_t number = transaction.extension().token & number_mask;
  const auto has_left = [&] {
    Unit& unit = at(number);
    unit.has_left = true;
    if (!unit.receives()) --buffers_used_;
    finish(unit);
  };
  if (event.what == RingEvent::left) return has_left();
  if (event.what == RingEvent::answered) {
    --unanswered_;
    if (!transaction.extension().taken && !transaction.is_response_error()) has_left();
    if (is_refused(transaction, "the next GPU has refused a message")) return;
  } else if (is_refused(transaction, "an access of a collective was refused")) {
    return;
  } else if (event.what == RingEvent::loaded) {
    Unit& unit = at(number);
    if (const unsigned char* data = transaction.get_data_ptr())
      (unit.receives() ? unit.own : unit.data).assign(data, data + unit.message.bytes);
    push(engine_.sram.end_of(unit.message.bytes), RingEvent::ready, number);
  } else {
    Unit& unit = at(number);
    unit.is_stored = true;
    finish(unit);
  }
  transaction.release();
}

bool RingCollectives::is_refused(Transaction& transaction, const char* what) {
  if (!transaction.is_response_error()) return false;
  const std::string text = describe(transaction) + ": " + what;
  const Status status = status_of_data_access(transaction);
  const std::uint64_t address = transaction.get_address();
  transaction.release();
  fail(status, address, text);
  return true;
}

void RingCollectives::refuse_message(tlm::tlm_generic_payload& message, Status status) {
  extension_of(message).refusal = static_cast<std::uint32_t>(status);
  message.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
  engine_.arrivals.respond(message, 0);
  message.release();
}

void RingCollectives::clear(Status status) {
  ++generation_;
  std::deque<tlm::tlm_generic_payload*> held = std::exchange(arrivals_, {});
  for (const Unit& unit : units_)
    if (unit.incoming != nullptr) held.push_back(unit.incoming);
  units_.clear();
  collectives_.clear();
  first_ = next_load_ = next_receive_ = next_send_ = 0;
  places_used_ = buffers_used_ = unanswered_ = started_ = 0;
  has_failed_ = false;
  note_stall(false);
  sent_bytes_.reset();
  added_bytes_.reset();
  for (tlm::tlm_generic_payload* message : held) refuse_message(*message, status);
}

/// All collectives of the ring end, here and, as each GPU tells the next one, at all GPUs.
void RingCollectives::fail(Status status, std::uint64_t address, const std::string& text) {
  std::deque<Active> ended = std::exchange(collectives_, {});
  clear(Status::peer_failed);
  has_failed_ = true;
  engine_.failed(status, address, text);
  if (!ended.empty()) tell_failure(ended.front().collective.next);
  for (const Active& active : ended) engine_.ended(active.collective);
}

/// It needs no place, and nobody waits for its response.
void RingCollectives::tell_failure(std::uint16_t next) {
  Transaction& message = engine_.pool.make(Operation::store, address_at(next, number_, 0), {1, failure_bytes, 0});
  DataExtension& extension = message.extension();
  extension.stream = Stream::communication;
  extension.cached = false;
  extension.real = true;
  extension.producer = {0, failure_mark, engine_.gpu};
  extension.token = token_of(0) - (std::uint64_t{1} << 48);
  message.attach_buffer();
  engine_.remote.send(message, 0);
}

}  // namespace t3vp::endpoint
