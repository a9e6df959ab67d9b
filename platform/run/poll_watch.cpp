#include "run/poll_watch.h"

#include <algorithm>
#include <numeric>

namespace t3vp {

namespace {

/// How often a program has read one value, or found the same interrupt lines up.
std::uint64_t repetitions(const processor::Processor& processor) {
  return std::max(processor.poll().reads, processor.service().times);
}

}  // namespace

PollWatch::PollWatch(const Node& node, std::uint64_t limit) : node_(node), limit_(limit), reads_(node.gpus().size()) {
  begin_anew();
}

/// Changes with whatever goes on in the node besides its programs: nothing does for long without memory, links or
/// compute units.
std::uint64_t PollWatch::progress() const {
  std::uint64_t sum = 0;
  for (const auto& gpu : node_.gpus()) {
    const auto& bytes = gpu->memory.dram_bytes();
    sum += std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0});
    sum += gpu->compute.finished_workgroups() + gpu->compute.busy_time();
  }
  for (const auto& link : node_.links()) sum += link->begun().packets;
  return sum;
}

void PollWatch::begin_anew() {
  progress_ = progress();
  for (std::size_t g = 0; g < reads_.size(); ++g) reads_[g] = repetitions(node_.gpus()[g]->processor);
}

bool PollWatch::in_vain() {
  bool polls = false;
  for (std::size_t g = 0; g < reads_.size(); ++g) {
    const processor::Processor& processor = node_.gpus()[g]->processor;
    if (processor.finished() || processor.awaits_interrupt()) continue;
    const std::uint64_t reads = repetitions(processor);
    if (reads < reads_[g]) reads_[g] = 0;  // of something else, or of another value
    if (reads - reads_[g] < limit_) return false;
    polls = true;
  }
  if (!polls) return false;
  if (progress() == progress_) return true;
  begin_anew();
  return false;
}

}  // namespace t3vp
