// The compute and the communication queue in front of one DRAM channel.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "dram/channel.h"
#include "protocol/access.h"

namespace t3vp::memory {

/// Column accesses at consecutive channel-local addresses that belong to one request.
struct Run {
  std::uint64_t address = 0;
  dram::Cycle arrival = 0;
  std::uint64_t after = 0;  ///< runs of the other stream that must have left before: same-address order
  std::uint32_t request = 0;
  std::uint32_t previous = 0;  ///< low bits of the number of the run before it in its bucket of the queue
  std::uint16_t accesses = 0;
  std::uint16_t bytes = 0;  ///< of the request's payload
  dram::Kind kind = dram::Kind::read;
  TrafficClass traffic = TrafficClass::control;
};

/// First-in first-out, growing ring: no allocation once warm. Runs are numbered from 1. Runs whose blocks of addresses
/// hash to the same bucket form a chain from the latest back, through the ring itself. A run that has left needs no
/// removal, since its number identifies it.
class RunQueue {
 public:
  static constexpr std::uint32_t block_bytes = 256;

  bool empty() const { return popped_ == pushed_; }
  Run& front() { return numbered(popped_ + 1); }
  void push(const Run& run);
  void pop() {
    if (++popped_ == pushed_)
      base_ = popped_ + 1;  // an empty ring starts again, in memory that is in the machine's
                            // cache
  }
  std::uint64_t popped() const { return popped_; }
  std::uint64_t size() const { return pushed_ - popped_; }

  /// Number of the latest run here that must stay ahead of an access of this kind to this address; 0: none. Reads do
  /// not conflict with reads, nor near-memory updates with updates, which commute.
  std::uint64_t latest_conflict(std::uint64_t address, dram::Kind kind) const;

 private:
  static std::size_t bucket_of(std::uint64_t address) { return address / block_bytes * 0x9E3779B97F4A7C15 >> 56; }
  Run& numbered(std::uint64_t number) { return runs_[(number - base_) & mask_]; }
  const Run& numbered(std::uint64_t number) const { return runs_[(number - base_) & mask_]; }
  void grow();

  std::vector<Run> runs_ = std::vector<Run>(64);
  std::uint64_t pushed_ = 0, popped_ = 0, base_ = 1, mask_ = 63;
  std::array<std::uint32_t, 256> latest_{};  ///< of each bucket, low bits of the number
};

/// Both queues and what keeps same-address accesses in order across them, so that a DMA read never overtakes the update
/// that triggered it: a run waits until the last conflicting run of the other queue has entered the DRAM queue. A run
/// lies within one block of ordered_bytes.
class StreamQueues {
 public:
  static constexpr unsigned compute = 0, communication = 1;
  static constexpr std::uint32_t ordered_bytes = RunQueue::block_bytes;

  void push(unsigned stream, Run run) {
    const RunQueue& other = queues_[1 - stream];
    run.after = other.empty() ? 0 : other.latest_conflict(run.address, run.kind);
    queues_[stream].push(run);
  }
  bool empty() const { return queues_[0].empty() && queues_[1].empty(); }
  std::uint64_t backlog(unsigned stream) const { return queues_[stream].size(); }
  bool waiting(unsigned stream) const { return !queues_[stream].empty(); }
  Run& front(unsigned stream) { return queues_[stream].front(); }
  /// True when the head may issue at `now`. Otherwise `retry` is lowered to its arrival if that is all it waits for.
  bool ready(unsigned stream, dram::Cycle now, dram::Cycle& retry) {
    if (queues_[stream].empty()) return false;
    const Run& run = queues_[stream].front();
    if (queues_[1 - stream].popped() < run.after) return false;
    if (run.arrival <= now) return true;
    retry = std::min(retry, run.arrival);
    return false;
  }
  void pop(unsigned stream) { queues_[stream].pop(); }

 private:
  std::array<RunQueue, 2> queues_;
};

}  // namespace t3vp::memory
