#include "memory/stream_queues.h"

#include <algorithm>
#include <utility>

namespace t3vp {

void RunQueue::grow() {
  std::vector<Run> larger(runs_.size() * 2);
  for (std::uint64_t i = head_; i != tail_; ++i) larger[i & (larger.size() - 1)] = runs_[i & mask_];
  runs_ = std::move(larger);
  mask_ = runs_.size() - 1;
}

void LatestRuns::note(std::uint64_t block, dram::Kind kind, std::uint64_t number, std::uint64_t popped) {
  std::size_t at = find(block);
  if (entries_[at].block == no_block && ++used_ * 4 > entries_.size() * 3) {
    rebuild(popped);
    ++used_;
    at = find(block);
  }
  entries_[at].block = block;
  entries_[at].numbers[static_cast<std::size_t>(kind)] = number;
}

/// Keeps the blocks with runs in the queue, in a table three quarters of which stay empty.
void LatestRuns::rebuild(std::uint64_t popped) {
  std::vector<Entry> kept;
  for (const Entry& entry : entries_)
    if (entry.block != no_block && *std::max_element(entry.numbers.begin(), entry.numbers.end()) > popped)
      kept.push_back(entry);
  std::size_t size = 64;
  while (size < 4 * kept.size()) size *= 2;
  entries_.assign(size, Entry{});
  used_ = kept.size();
  for (const Entry& entry : kept) entries_[find(entry.block)] = entry;
}

void StreamQueues::push(unsigned stream, Run run) {
  const std::uint64_t block = run.address / ordered_bytes;
  LatestRuns::Numbers other = latest_[1 - stream].of(block);
  if (run.kind != dram::Kind::write) other[static_cast<std::size_t>(run.kind)] = 0;
  run.after = *std::max_element(other.begin(), other.end());
  queues_[stream].push(run);
  latest_[stream].note(block, run.kind, queues_[stream].pushed(), queues_[stream].popped());
}

}  // namespace t3vp
