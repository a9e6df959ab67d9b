#include "nic/engine_waits.h"

#include <fmt/format.h>

#include <algorithm>

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

EngineWaits::EngineWaits(registers::Nic& registers, QueuePairs& pairs, DataTargetBase& engine, IoLink& io,
                         Picoseconds io_latency)
    : registers_(registers), pairs_(pairs), engine_(engine), io_(io), io_latency_(io_latency), queues_(pairs.count()) {}

bool EngineWaits::is_doorbell(std::uint64_t address) const {
  return element_at(offset_of(address), registers::Nic::doorbell_offset, registers::Nic::doorbell_stride,
                    queues_.size()) != queues_.size();
}

/// The engine hears of what has ended over the I/O link, as it has asked over it.
void EngineWaits::take(tlm::tlm_generic_payload& request) {
  const std::uint64_t number = element_at(offset_of(request.get_address()), registers::Nic::finished_offset,
                                          registers::Nic::finished_stride, queues_.size());
  const Picoseconds answered = now() + 2 * io_latency_;
  if (number == queues_.size()) {
    registers_.report(Status::bad_address, request.get_address(),
                      t3vp::describe(request) + ": the DMA engine may only wait for nic.finished[i]");
    return answer({&request, answered}, tlm::TLM_ADDRESS_ERROR_RESPONSE, Status::bad_address);
  }
  if (is_of_an_earlier_generation(extension_of(request), pairs_.reset_at()))
    return answer({&request, answered}, tlm::TLM_COMMAND_ERROR_RESPONSE, Status::peer_failed);
  const auto queue = static_cast<std::uint32_t>(number);
  queues_[queue].waits.push_back({&request, answered});
  answer_succeeded(queue);
  if (pairs_.state(queue) != QueuePairState::ready_to_send) end(queue);
}

void EngineWaits::answer(const Wait& wait, tlm::tlm_response_status response, Status status) {
  wait.request->set_response_status(response);
  extension_of(*wait.request).order = io_.release();
  if (status != Status::ok) extension_of(*wait.request).refusal = static_cast<std::uint32_t>(status);
  engine_.respond(*wait.request, std::max(wait.answered, now() + io_latency_) - now());
  wait.request->release();
}

void EngineWaits::answer_succeeded(std::uint32_t number) {
  Queue& queue = queues_[number];
  while (!queue.waits.empty()) {
    const Wait wait = queue.waits.front();
    if (is_before(queue.succeeded, static_cast<std::uint32_t>(extension_of(*wait.request).threshold))) return;
    queue.waits.pop_front();
    answer(wait, tlm::TLM_OK_RESPONSE, Status::ok);
  }
}

void EngineWaits::end(std::uint32_t number) {
  Queue& queue = queues_[number];
  while (!queue.waits.empty()) {
    const Wait wait = queue.waits.front();
    queue.waits.pop_front();
    answer(wait, tlm::TLM_COMMAND_ERROR_RESPONSE, queue.failure);
  }
}

void EngineWaits::forget(std::uint32_t queue) {
  end(queue);
  queues_[queue].succeeded = 0;
  queues_[queue].failure = Status::aborted;
}

}  // namespace t3vp::nic
