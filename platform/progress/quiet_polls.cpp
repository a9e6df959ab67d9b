#include "progress/quiet_polls.h"

namespace t3vp {

namespace {

/// The number of reads without a change, by each wave, before its polls are held. It is longer than traffic in flight
/// usually stays unnoticed. Later changes are found all the same.
constexpr std::uint64_t reads_in_vain = 256;

}  // namespace

QuietPolls::QuietPolls(const Node& node) : node_(node), polls_(node.gpus().size()) {
  hold(false);
  begin_anew();
}

/// Changes with whatever could end a poll, or comes before it.
std::uint64_t QuietPolls::progress() const {
  std::uint64_t sum = 0;
  for (const auto& gpu : node_.gpus()) sum += gpu->memory.writes() + gpu->compute.stretches();
  return sum;
}

bool QuietPolls::have_read_in_vain() const {
  bool any = false;
  for (std::size_t g = 0; g < polls_.size(); ++g) {
    const compute::ComputeCluster& cluster = node_.gpus()[g]->compute;
    const std::uint64_t polls = cluster.polls_in_vain() - polls_[g];
    const std::uint64_t waves = polls == 0 ? 0 : cluster.polling();
    if (polls < reads_in_vain * waves) return false;
    any = any || waves != 0;
  }
  return any;
}

void QuietPolls::hold(bool held) {
  for (const auto& gpu : node_.gpus()) gpu->compute.hold_polls(held);
  held_ = held;
}

void QuietPolls::begin_anew() {
  progress_ = progress();
  for (std::size_t g = 0; g < polls_.size(); ++g) polls_[g] = node_.gpus()[g]->compute.polls_in_vain();
}

void QuietPolls::look() {
  if (progress() != progress_) {
    if (held_) hold(false);
    begin_anew();
  } else if (!held_ && have_read_in_vain()) {
    hold(true);
  }
}

}  // namespace t3vp
