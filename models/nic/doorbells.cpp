// The doorbell page: registers to firmware, 4 bytes to be stored to kernels.
#include <fmt/format.h>

#include "nic/rdma_nic.h"
#include "protocol/access_description.h"
#include "protocol/address_map.h"

namespace t3vp::nic {
namespace {

constexpr std::uint32_t doorbell_bytes = 4;
constexpr std::uint64_t consumed_within = registers::Nic::consumed_offset - registers::Nic::doorbell_offset;
static_assert(registers::Nic::consumed_stride == registers::Nic::doorbell_stride);

}  // namespace

/// What is wrong with a doorbell of the queue pair. Doorbells follow one another, also those whose entries the NIC has
/// learnt of from a record that was further on.
Nic::Mistake Nic::validate_doorbell(std::uint32_t queue, std::uint32_t posted) const {
  const QueuePair& pair = queue_pairs_[queue];
  if (pair.state != QueuePairState::ready_to_send && pair.state != QueuePairState::error)
    return {Status::access_denied,
            fmt::format("queue pair in ready_to_send expected, it is in {}", name_of(pair.state))};
  if (is_before(pair.announced, posted)) return {};
  return {Status::bad_value,
          fmt::format("more than {:#x}, which the last one has announced, expected", pair.announced)};
}

std::uint32_t Nic::posted(std::size_t queue) const {
  const QueuePair& pair = queue_pairs_[queue];
  return is_before(pair.posted, pair.announced) ? pair.announced : pair.posted;
}

void Nic::ring(std::uint32_t queue, std::uint32_t posted) {
  queue_pairs_[queue].announced = posted;
  ++figures_.doorbells;
  events_.push(now() + parameters_.io_latency, {Event::doorbell, queue, queue_pairs_[queue].generation, posted});
}

void Nic::doorbell_written(std::size_t number) {
  const auto queue = static_cast<std::uint32_t>(number);
  const auto posted = static_cast<std::uint32_t>(registers.doorbell[queue].value());
  if (const Mistake mistake = validate_doorbell(queue, posted); mistake.status != Status::ok) {
    raise_error();
    return registers.refuse(mistake.status, mistake.text);
  }
  ring(queue, posted);
}

void Nic::kernel_request(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  transaction.acquire();
  stores_.notify(transaction, to_sc_time(delay));
}

void Nic::take_stores() {
  while (tlm::tlm_generic_payload* store = stores_.get_next_transaction()) {
    store->set_response_status(tlm::TLM_OK_RESPONSE);
    take_store(*store, "compute units");
    doorbells.respond(*store, 0);
    store->release();
  }
}

/// A kernel has taken completions.
void Nic::take_completions(tlm::tlm_generic_payload& store, std::uint32_t queue, std::uint32_t consumed) {
  const std::string mistake = completions_.validate_consumed(queue, consumed);
  if (mistake.empty()) return registers.consumed[queue].set(consumed);
  store.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
  registers.report(Status::bad_value, store.get_address(),
                   fmt::format("nic.consumed[{}]: {:#x}, {}", queue, consumed, mistake));
}

void Nic::take_store(tlm::tlm_generic_payload& store, const char* who) {
  serve_store(store, who);
  if (!registers.is_observed()) return;
  RegisterAccess told;
  told.who = who;
  told.address = store.get_address();
  told.bytes = store.get_data_length();
  told.is_refused = !store.is_response_ok();
  if (told.bytes == doorbell_bytes && store.get_data_ptr() != nullptr)
    told.value = t3_number_at(store.get_data_ptr(), doorbell_bytes);
  registers.tell_write(told);
}

/// Its data are real in every run.
void Nic::serve_store(tlm::tlm_generic_payload& store, const char* who) {
  const std::uint64_t address = store.get_address();
  const std::uint64_t offset = address_map::local_of(address) - address_map::block_base(address_map::Block::nic) -
                               registers::Nic::doorbell_offset;
  const auto queue = static_cast<std::uint32_t>(offset / registers::Nic::doorbell_stride);
  const std::uint64_t within = offset % registers::Nic::doorbell_stride,
                      number = offset / registers::Nic::doorbell_stride;
  const bool is_word = extension_of(store).operation == Operation::store && store.get_data_length() == doorbell_bytes &&
                       store.get_data_ptr() != nullptr;
  const bool rings = within == 0 && number < queue_pairs_.size();
  const bool takes = within == consumed_within && number < registers::Nic::consumed_count;
  if (!is_word || !(rings || takes)) {
    store.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return registers.report(Status::bad_address, address,
                            fmt::format("{}: {} may only store the 4 bytes of nic.doorbell[i] and nic.consumed[i]",
                                        t3vp::describe(store), who));
  }
  if (is_of_an_earlier_generation(extension_of(store), reset_at_)) return refuse_of_an_earlier_generation(store);
  const auto posted = static_cast<std::uint32_t>(t3_number_at(store.get_data_ptr(), doorbell_bytes));
  if (takes) return take_completions(store, queue, posted);
  if (const Mistake mistake = validate_doorbell(queue, posted); mistake.status != Status::ok) {
    raise_error();
    store.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    extension_of(store).refusal = static_cast<std::uint32_t>(mistake.status);
    return registers.report(mistake.status, address,
                            fmt::format("nic.doorbell[{}]: {:#x}, {}", queue, posted, mistake.text));
  }
  ring(queue, posted);
}

void Nic::post_receive(std::size_t queue) {
  QueuePair& pair = queue_pairs_[queue];
  const auto posted = static_cast<std::uint32_t>(registers.receive_doorbell[queue].value());
  if (pair.state == QueuePairState::reset || pair.state == QueuePairState::error)
    return registers.refuse(Status::access_denied,
                            fmt::format("queue pair in init or ready expected, it is in {}", name_of(pair.state)));
  if (is_before(posted, pair.receive_posted))
    return registers.refuse(Status::bad_value, fmt::format("{} or more expected", pair.receive_posted));
  pair.receive_posted = posted;
}

}  // namespace t3vp::nic
