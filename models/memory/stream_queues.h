// The compute and the communication queue in front of one DRAM channel.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "dram/channel.h"
#include "protocol/data_protocol.h"

namespace t3vp {

/// Column accesses at consecutive channel-local addresses that belong to one request.
struct Run {
  std::uint64_t address = 0;
  std::uint32_t accesses = 0;
  std::uint32_t request = 0;
  dram::Kind kind = dram::Kind::read;
  TrafficClass traffic = TrafficClass::control;
  dram::Cycle arrival = 0;
  std::uint64_t after = 0;  ///< runs of the other stream that must have left before: same-address order
};

/// First-in first-out, growing ring: no allocation once warm.
class RunQueue {
 public:
  bool empty() const { return head_ == tail_; }
  Run& front() { return runs_[head_ & mask_]; }
  void push(const Run& run) {
    if (tail_ - head_ == runs_.size()) grow();
    runs_[tail_++ & mask_] = run;
  }
  void pop() { ++head_; }
  std::uint64_t pushed() const { return tail_; }
  std::uint64_t popped() const { return head_; }

 private:
  void grow();

  std::vector<Run> runs_ = std::vector<Run>(64);
  std::uint64_t head_ = 0, tail_ = 0, mask_ = 63;
};

/// The latest runs of a queue by block of addresses, kind by kind; what has left the queue may be forgotten.
class LatestRuns {
 public:
  using Numbers = std::array<std::uint64_t, 3>;  ///< by dram::Kind; 0: none

  Numbers of(std::uint64_t block) const {
    const Entry& entry = entries_[find(block)];
    return entry.block == block ? entry.numbers : Numbers{};
  }
  /// Runs up to `popped` have left.
  void note(std::uint64_t block, dram::Kind kind, std::uint64_t number, std::uint64_t popped);

 private:
  static constexpr std::uint64_t no_block = ~std::uint64_t{0};
  struct Entry {
    std::uint64_t block = no_block;
    Numbers numbers{};
  };
  /// Where the block is or would be.
  std::size_t find(std::uint64_t block) const {
    std::size_t at = block * 0x9E3779B97F4A7C15 >> 40 & (entries_.size() - 1);
    while (entries_[at].block != block && entries_[at].block != no_block) at = (at + 1) & (entries_.size() - 1);
    return at;
  }
  void rebuild(std::uint64_t popped);

  std::vector<Entry> entries_ = std::vector<Entry>(64);
  std::size_t used_ = 0;
};

/// Both queues and what keeps same-address accesses in order across them, so that a DMA read never overtakes the update
/// that triggered it: a run waits until the last conflicting run of the other queue has entered the DRAM queue. Reads
/// do not conflict with reads, nor near-memory updates with updates, which commute. A run lies within one block of
/// ordered_bytes.
class StreamQueues {
 public:
  static constexpr unsigned compute = 0, communication = 1;
  static constexpr std::uint32_t ordered_bytes = 256;

  void push(unsigned stream, Run run);
  bool empty() const { return queues_[0].empty() && queues_[1].empty(); }
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
  std::array<LatestRuns, 2> latest_;
};

}  // namespace t3vp
