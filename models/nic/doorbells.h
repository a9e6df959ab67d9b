// The doorbell page: registers to firmware, 4 bytes to be stored to kernels and the DMA engine. A doorbell announces
// entries; the record in memory, which the NIC reads then, counts.
#pragma once

#include <string>
#include <vector>

#include "nic/nic_events.h"
#include "nic/queue_pairs.h"
#include "nic/send_queues.h"
#include "protocol/refusal.h"

namespace t3vp::nic {

class Doorbells {
 public:
  Doorbells(registers::Nic& registers, NicStatus& status, QueuePairs& pairs, SendQueues& entries,
            CompletionQueues& completions, IoLink& io, NicEvents& events, Picoseconds io_latency);

  /// Serves a store of a kernel or of the DMA engine (`who`): its response status says how it was taken.
  void take(tlm::tlm_generic_payload& store, const char* who);
  /// The doorbell has reached the NIC: the record is read.
  void arrived(std::uint32_t queue, std::uint32_t announced);
  void record_read(const Purpose& purpose, const tlm::tlm_generic_payload& access);
  void forget(std::uint32_t queue) { announced_[queue] = 0; }
  /// Doorbells of queue pairs that were ready for them.
  std::uint64_t rung() const { return rung_; }

 private:
  Refusal validate(std::uint32_t queue, std::uint32_t posted) const;
  std::uint32_t posted(std::uint32_t queue) const;
  void ring(std::uint32_t queue, std::uint32_t posted);
  void written(std::uint32_t queue);
  void serve(tlm::tlm_generic_payload& store, const char* who);
  void take_completions(tlm::tlm_generic_payload& store, std::uint32_t queue, std::uint32_t consumed);

  registers::Nic& registers_;
  NicStatus& status_;
  QueuePairs& pairs_;
  SendQueues& entries_;
  CompletionQueues& completions_;
  IoLink& io_;
  NicEvents& events_;
  Picoseconds io_latency_;
  std::vector<std::uint32_t> announced_;  ///< by the last doorbell of each queue pair
  std::uint64_t rung_ = 0;
};

}  // namespace t3vp::nic
