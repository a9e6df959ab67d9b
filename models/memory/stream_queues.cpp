#include "memory/stream_queues.h"

#include <algorithm>

namespace t3vp {

void RunQueue::push(const Run& run) {
  if (tail_ - head_ == runs_.size()) {
    std::vector<Run> larger(runs_.size() * 2);
    for (std::uint64_t i = head_; i != tail_; ++i) larger[i & (larger.size() - 1)] = runs_[i & mask_];
    runs_ = std::move(larger);
    mask_ = runs_.size() - 1;
  }
  runs_[tail_++ & mask_] = run;
}

void StreamQueues::push(unsigned stream, Run run) {
  const unsigned other = 1 - stream;
  const unsigned bucket = bucket_of(run.address);
  const bool reads = run.kind == dram::Kind::read;
  run.after = reads ? last_write_[other][bucket] : last_any_[other][bucket];
  queues_[stream].push(run);
  last_any_[stream][bucket] = queues_[stream].pushed();
  if (!reads) last_write_[stream][bucket] = queues_[stream].pushed();
}

bool StreamQueues::ready(unsigned stream, dram::Cycle now, dram::Cycle& retry) {
  if (queues_[stream].empty()) return false;
  const Run& run = queues_[stream].front();
  if (queues_[1 - stream].popped() < run.after) return false;
  if (run.arrival <= now) return true;
  retry = std::min(retry, run.arrival);
  return false;
}

}  // namespace t3vp
