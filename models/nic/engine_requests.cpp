// What the DMA engine of the GPU asks of the NIC: doorbells, and to be told when work entries have ended.
#include <fmt/format.h>

#include <algorithm>

#include "nic/rdma_nic.h"
#include "protocol/access_description.h"
#include "protocol/address_map.h"

namespace t3vp::nic {
namespace {

std::uint64_t offset_of(std::uint64_t address) {
  return address_map::local_of(address) - address_map::block_base(address_map::Block::nic);
}

/// Number of the element of an array of registers that is at the offset; `count` if none is.
std::uint64_t element_at(std::uint64_t offset, std::uint64_t base, std::uint64_t stride, std::uint64_t count) {
  return offset >= base && (offset - base) % stride == 0 ? std::min((offset - base) / stride, count) : count;
}

}  // namespace

/// A debug access without bytes asks whether there is such a doorbell.
unsigned Nic::engine_debug(int, tlm::tlm_generic_payload& transaction) {
  const std::uint64_t count = queue_pairs_.size();
  const bool is_there = transaction.get_data_length() == 0 &&
                        element_at(offset_of(transaction.get_address()), registers::Nic::doorbell_offset,
                                   registers::Nic::doorbell_stride, count) != count;
  transaction.set_response_status(is_there ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
  return 0;
}

void Nic::engine_request(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  transaction.acquire();
  engine_requests_.push(now() + delay, &transaction);
}

void Nic::take_engine_requests() {
  while (engine_requests_.ready()) {
    tlm::tlm_generic_payload& request = *engine_requests_.pop();
    if (extension_of(request).operation == Operation::wait) {
      take_wait(request);
      continue;
    }
    request.set_response_status(tlm::TLM_OK_RESPONSE);
    take_store(request, "the DMA engine");
    engine.respond(request, 0);
    request.release();
  }
  engine_requests_.arm();
}

/// The engine hears of what has ended over the I/O link, as it has asked over it.
void Nic::take_wait(tlm::tlm_generic_payload& request) {
  const std::uint64_t number = element_at(offset_of(request.get_address()), registers::Nic::finished_offset,
                                          registers::Nic::finished_stride, queue_pairs_.size());
  const Picoseconds answered = now() + 2 * parameters_.io_latency;
  if (number == queue_pairs_.size()) {
    registers.report(Status::bad_address, request.get_address(),
                     t3vp::describe(request) + ": the DMA engine may only wait for nic.finished[i]");
    return answer_wait({&request, answered}, tlm::TLM_ADDRESS_ERROR_RESPONSE, Status::bad_address);
  }
  if (is_of_an_earlier_generation(extension_of(request), reset_at_))
    return answer_wait({&request, answered}, tlm::TLM_COMMAND_ERROR_RESPONSE, Status::peer_failed);
  const auto queue = static_cast<std::uint32_t>(number);
  queue_pairs_[queue].waits.push_back({&request, answered});
  answer_waits(queue);
  if (queue_pairs_[queue].state != QueuePairState::ready_to_send) end_waits(queue);
}

void Nic::answer_wait(const Wait& wait, tlm::tlm_response_status response, Status status) {
  wait.request->set_response_status(response);
  if (status != Status::ok) extension_of(*wait.request).refusal = static_cast<std::uint32_t>(status);
  engine.respond(*wait.request, std::max(wait.answered, now() + parameters_.io_latency) - now());
  wait.request->release();
}

/// Of entries that have ended well.
void Nic::answer_waits(std::uint32_t queue) {
  QueuePair& pair = queue_pairs_[queue];
  while (!pair.waits.empty()) {
    const Wait wait = pair.waits.front();
    if (is_before(pair.succeeded, static_cast<std::uint32_t>(extension_of(*wait.request).threshold))) return;
    pair.waits.pop_front();
    answer_wait(wait, tlm::TLM_OK_RESPONSE, Status::ok);
  }
}

/// Nothing else of the queue pair ends well.
void Nic::end_waits(std::uint32_t queue) {
  QueuePair& pair = queue_pairs_[queue];
  while (!pair.waits.empty()) {
    const Wait wait = pair.waits.front();
    pair.waits.pop_front();
    answer_wait(wait, tlm::TLM_COMMAND_ERROR_RESPONSE, pair.failure);
  }
}

}  // namespace t3vp::nic
