#include "progress/quiet_polls.h"

namespace t3vp {

namespace {

/// The number of reads without a change, by each wave, before its polls are held. It is longer than traffic in flight
/// usually stays unnoticed. Later changes are found all the same.
constexpr std::uint64_t reads_in_vain = 256;

/// Changes with whatever could end a poll, or comes before it.
std::uint64_t progress_of(const Pulse& pulse) {
  std::uint64_t sum = 0;
  for (const GpuPulse& gpu : pulse) sum += gpu.writes + gpu.stretches;
  return sum;
}

}  // namespace

QuietPolls::QuietPolls(const Node& node, const Pulse& pulse) : node_(node), polls_(pulse.size()) {
  hold(false);
  begin_anew(pulse);
}

bool QuietPolls::have_read_in_vain(const Pulse& pulse) const {
  bool any = false;
  for (std::size_t g = 0; g < polls_.size(); ++g) {
    const std::uint64_t polls = pulse[g].polls - polls_[g];
    const std::uint64_t waves = polls == 0 ? 0 : pulse[g].polling;
    if (polls < reads_in_vain * waves) return false;
    any = any || waves != 0;
  }
  return any;
}

void QuietPolls::hold(bool held) {
  for (const auto& gpu : node_.gpus()) gpu->compute.hold_polls(held);
  held_ = held;
}

void QuietPolls::begin_anew(const Pulse& pulse) {
  progress_ = progress_of(pulse);
  for (std::size_t g = 0; g < polls_.size(); ++g) polls_[g] = pulse[g].polls;
}

void QuietPolls::look(const Pulse& pulse) {
  if (progress_of(pulse) != progress_) {
    if (held_) hold(false);
    begin_anew(pulse);
  } else if (!held_ && have_read_in_vain(pulse)) {
    hold(true);
  }
}

}  // namespace t3vp
