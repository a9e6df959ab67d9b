#include "memory/stream_queues.h"

#include <utility>

namespace t3vp::memory {
namespace {

bool conflict(dram::Kind a, dram::Kind b) { return a != b || a == dram::Kind::write; }

/// The earlier of two numbers, by the later one and its own low bits. One more than 2^32 back comes out too late; the
/// run that is found there is of another block, and the chain from it goes back as well.
std::uint64_t earlier(std::uint64_t later, std::uint32_t low) {
  return later - static_cast<std::uint32_t>(static_cast<std::uint32_t>(later) - low);
}

}  // namespace

void RunQueue::push(const Run& run) {
  if (pushed_ - popped_ == runs_.size()) grow();
  std::uint32_t& latest = latest_[bucket_of(run.address)];
  Run& added = numbered(++pushed_);
  added = run;
  added.previous = std::exchange(latest, static_cast<std::uint32_t>(pushed_));
}

std::uint64_t RunQueue::latest_conflict(std::uint64_t address, dram::Kind kind) const {
  const std::uint64_t block = address / block_bytes;
  std::uint64_t number = earlier(pushed_, latest_[bucket_of(address)]);
  while (number > popped_) {
    const Run& run = numbered(number);
    if (run.address / block_bytes == block && conflict(run.kind, kind)) return number;
    number = earlier(number - 1, run.previous);
  }
  return 0;
}

void RunQueue::grow() {
  std::vector<Run> larger(runs_.size() * 2);
  for (std::uint64_t number = popped_ + 1; number <= pushed_; ++number)
    larger[(number - base_) & (larger.size() - 1)] = numbered(number);
  runs_ = std::move(larger);
  mask_ = runs_.size() - 1;
}

}  // namespace t3vp::memory
