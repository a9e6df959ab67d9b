#include "memory/stream_queues.h"

#include <utility>

namespace t3vp {

void RunQueue::grow() {
  std::vector<Run> larger(runs_.size() * 2);
  for (std::uint64_t i = head_; i != tail_; ++i) larger[i & (larger.size() - 1)] = runs_[i & mask_];
  runs_ = std::move(larger);
  mask_ = runs_.size() - 1;
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

}  // namespace t3vp
