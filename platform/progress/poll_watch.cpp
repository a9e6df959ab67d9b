#include "progress/poll_watch.h"

#include <algorithm>

namespace t3vp {
namespace {

/// Its program goes on by itself.
bool acts(const GpuPulse& gpu) { return !gpu.finished && !gpu.awaits_interrupt; }

}  // namespace

void Repetitions::begin_anew(const Pulse& pulse) {
  before_.resize(pulse.size());
  for (std::size_t g = 0; g < pulse.size(); ++g) before_[g] = pulse[g].repetitions;
}

bool Repetitions::are_fewer(const Pulse& pulse, std::uint64_t limit) {
  for (std::size_t g = 0; g < pulse.size(); ++g) {
    if (!acts(pulse[g])) continue;
    if (pulse[g].repetitions < before_[g]) before_[g] = 0;  // of something else, or of another value
    if (pulse[g].repetitions - before_[g] < limit) return true;
  }
  return false;
}

PollWatch::PollWatch(const Pulse& pulse, std::uint64_t limit) : limit_(limit) { begin_anew(pulse); }

void PollWatch::begin_anew(const Pulse& pulse) {
  progress_ = progress_without_programs(pulse);
  repetitions_.begin_anew(pulse);
}

bool PollWatch::in_vain(const Pulse& pulse) {
  if (repetitions_.are_fewer(pulse, limit_) || std::none_of(pulse.begin(), pulse.end(), acts)) return false;
  if (progress_without_programs(pulse) == progress_) return true;
  begin_anew(pulse);
  return false;
}

}  // namespace t3vp
