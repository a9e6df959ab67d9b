#include "progress/poll_watch.h"

#include <algorithm>
#include <numeric>

namespace t3vp {

std::uint64_t repetitions(const processor::Processor& processor) {
  return std::max(processor.poll().reads, processor.service().times);
}

std::uint64_t progress_without_programs(const Node& node) {
  std::uint64_t sum = 0;
  for (const auto& gpu : node.gpus()) {
    const auto& bytes = gpu->memory.dram_bytes();
    sum += std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0});
    sum += gpu->compute.finished_workgroups() + gpu->compute.busy_time();
  }
  for (const auto& link : node.links()) sum += link->begun().packets;
  return sum;
}

PollWatch::PollWatch(const Node& node, std::uint64_t limit) : node_(node), limit_(limit), reads_(node.gpus().size()) {
  begin_anew();
}

void PollWatch::begin_anew() {
  progress_ = progress_without_programs(node_);
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
  if (progress_without_programs(node_) == progress_) return true;
  begin_anew();
  return false;
}

}  // namespace t3vp
