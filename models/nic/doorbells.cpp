#include "nic/doorbells.h"

#include <fmt/format.h>

#include "protocol/access_description.h"
#include "protocol/address_map.h"

namespace t3vp::nic {
namespace {

constexpr std::uint32_t doorbell_bytes = 4;
constexpr std::uint64_t consumed_within = registers::Nic::consumed_offset - registers::Nic::doorbell_offset;
static_assert(registers::Nic::consumed_stride == registers::Nic::doorbell_stride);

}  // namespace

Doorbells::Doorbells(registers::Nic& registers, NicStatus& status, QueuePairs& pairs, SendQueues& entries,
                     CompletionQueues& completions, IoLink& io, NicEvents& events, Picoseconds io_latency)
    : registers_(registers),
      status_(status),
      pairs_(pairs),
      entries_(entries),
      completions_(completions),
      io_(io),
      events_(events),
      io_latency_(io_latency),
      announced_(pairs.count()) {
  registers_.doorbell.on_write([this](std::size_t queue) { written(static_cast<std::uint32_t>(queue)); });
  registers_.posted.on_refresh(
      [this](std::size_t queue) { registers_.posted[queue].set(posted(static_cast<std::uint32_t>(queue))); });
}

/// Returns the error of a doorbell of the queue pair. Doorbells follow one another, also when the NIC has learnt of
/// their entries from a later record.
Refusal Doorbells::validate(std::uint32_t queue, std::uint32_t posted) const {
  const QueuePairState state = pairs_.state(queue);
  if (state != QueuePairState::ready_to_send && state != QueuePairState::error)
    return {Status::access_denied, fmt::format("queue pair in ready_to_send expected, it is in {}", name_of(state))};
  if (is_before(announced_[queue], posted)) return {};
  return {Status::bad_value,
          fmt::format("more than {:#x}, which the last one has announced, expected", announced_[queue])};
}

std::uint32_t Doorbells::posted(std::uint32_t queue) const {
  const std::uint32_t known = entries_[queue].posted;
  return is_before(known, announced_[queue]) ? announced_[queue] : known;
}

void Doorbells::ring(std::uint32_t queue, std::uint32_t posted) {
  announced_[queue] = posted;
  ++rung_;
  events_.push(now() + io_latency_, {NicEvent::doorbell, queue, pairs_.generation(queue), posted});
}

void Doorbells::written(std::uint32_t queue) {
  const auto posted = static_cast<std::uint32_t>(registers_.doorbell[queue].value());
  if (const Refusal found = validate(queue, posted)) {
    status_.raise_error();
    return registers_.refuse(found.status, found.text);
  }
  io_.follow_program();
  ring(queue, posted);
}

void Doorbells::arrived(std::uint32_t queue, std::uint32_t announced) {
  Purpose why = pairs_.purpose(Purpose::record, queue);
  why.value = announced;
  io_.load(flat(registers_.doorbell_record[queue].value(), 4), true, why);
}

/// The record counts; the doorbell that it disagrees with is a mistake in the order of the two.
void Doorbells::record_read(const Purpose& purpose, const tlm::tlm_generic_payload& access) {
  const std::uint32_t queue = purpose.queue;
  if (access.is_response_error()) {
    status_.log(Status::bad_address, access.get_address(),
                fmt::format("doorbell record of queue pair {} could not be read", queue));
    return pairs_.enter_error(queue, {NicCause::send_queue, NicSyndrome::ok, access.get_address()});
  }
  const auto posted = static_cast<std::uint32_t>(t3_number_at(access.get_data_ptr(), 4)),
             announced = static_cast<std::uint32_t>(purpose.value);
  if (is_before(posted, announced)) {
    status_.log(
        Status::mismatch, registers_.doorbell_record[queue].value(),
        fmt::format("queue pair {}: the doorbell says {} entries, its record {}: the record written first expected",
                    queue, announced, posted));
    if (announced_[queue] == announced)
      announced_[queue] = entries_[queue].posted;  // it may be rung again, behind the record
    status_.raise_error();
  }
  entries_.post(queue, posted);
}

void Doorbells::take(tlm::tlm_generic_payload& store, const char* who) {
  io_.follow(extension_of(store).order);
  serve(store, who);
  if (!registers_.is_observed()) return;
  RegisterAccess told;
  told.who = who;
  told.address = store.get_address();
  told.bytes = store.get_data_length();
  told.is_refused = !store.is_response_ok();
  if (told.bytes == doorbell_bytes && store.get_data_ptr() != nullptr)
    told.value = t3_number_at(store.get_data_ptr(), doorbell_bytes);
  registers_.tell_write(told);
}

/// Its data are real in every run.
void Doorbells::serve(tlm::tlm_generic_payload& store, const char* who) {
  const std::uint64_t address = store.get_address();
  const std::uint64_t offset = address_map::local_of(address) - address_map::block_base(address_map::Block::nic) -
                               registers::Nic::doorbell_offset;
  const auto queue = static_cast<std::uint32_t>(offset / registers::Nic::doorbell_stride);
  const std::uint64_t within = offset % registers::Nic::doorbell_stride,
                      number = offset / registers::Nic::doorbell_stride;
  const bool is_word = extension_of(store).operation == Operation::store && store.get_data_length() == doorbell_bytes &&
                       store.get_data_ptr() != nullptr;
  const bool rings = within == 0 && number < pairs_.count();
  const bool takes = within == consumed_within && number < registers::Nic::consumed_count;
  if (!is_word || !(rings || takes)) {
    store.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return registers_.report(Status::bad_address, address,
                             fmt::format("{}: {} may only store the 4 bytes of nic.doorbell[i] and nic.consumed[i]",
                                         t3vp::describe(store), who));
  }
  if (is_of_an_earlier_generation(extension_of(store), pairs_.reset_at()))
    return refuse_of_an_earlier_generation(store);
  const auto posted = static_cast<std::uint32_t>(t3_number_at(store.get_data_ptr(), doorbell_bytes));
  if (takes) return take_completions(store, queue, posted);
  if (const Refusal found = validate(queue, posted)) {
    status_.raise_error();
    store.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    extension_of(store).refusal = static_cast<std::uint32_t>(found.status);
    return registers_.report(found.status, address,
                             fmt::format("nic.doorbell[{}]: {:#x}, {}", queue, posted, found.text));
  }
  ring(queue, posted);
}

/// A kernel has taken completions.
void Doorbells::take_completions(tlm::tlm_generic_payload& store, std::uint32_t queue, std::uint32_t consumed) {
  const Refusal found = completions_.validate_consumed(queue, consumed);
  if (!found) return registers_.consumed[queue].set(consumed);
  store.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
  registers_.report(found.status, store.get_address(),
                    fmt::format("nic.consumed[{}]: {:#x}, {}", queue, consumed, found.text));
}

}  // namespace t3vp::nic
