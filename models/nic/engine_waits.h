// The DMA engine's waits for work entries: each is answered when its entry has ended well, or when none will.
#pragma once

#include <deque>
#include <vector>

#include "nic/queue_pairs.h"

namespace t3vp::nic {

class EngineWaits {
 public:
  /// `engine` is answered; `io_latency` is the I/O link's.
  EngineWaits(registers::Nic& registers, QueuePairs& pairs, DataTargetBase& engine, IoLink& io, Picoseconds io_latency);

  /// Whether the address is that of a doorbell.
  bool is_doorbell(std::uint64_t address) const;
  void take(tlm::tlm_generic_payload& request);
  /// One more entry of the queue pair has ended well: answer_succeeded() when its completion has been stored.
  void entry_succeeded(std::uint32_t queue) { ++queues_[queue].succeeded; }
  void answer_succeeded(std::uint32_t queue);
  /// Why no entry behind this one will end well.
  void entry_failed(std::uint32_t queue, Status why) { queues_[queue].failure = why; }
  /// Nothing else of the queue pair ends well.
  void end(std::uint32_t queue);
  void forget(std::uint32_t queue);

 private:
  struct Wait {
    tlm::tlm_generic_payload* request;
    Picoseconds answered;  ///< at the earliest
  };
  struct Queue {
    std::uint32_t succeeded = 0;       ///< entries that have finished without error, modulo 2^32
    Status failure = Status::aborted;  ///< why no other one will, once the queue pair is in error
    std::deque<Wait> waits;            ///< in the order of the entries' numbers
  };

  void answer(const Wait& wait, tlm::tlm_response_status response, Status status);

  registers::Nic& registers_;
  QueuePairs& pairs_;
  DataTargetBase& engine_;
  IoLink& io_;
  Picoseconds io_latency_;
  std::vector<Queue> queues_;
};

}  // namespace t3vp::nic
