#include "progress/spin_watch.h"

#include <fmt/format.h>

namespace t3vp {
namespace {

const processor::FirmwareCore* core_of(const Gpu& gpu) {
  return dynamic_cast<const processor::FirmwareCore*>(&gpu.processor);
}

/// It runs, and neither sleeps nor has ended.
bool computes(const processor::FirmwareCore& core) {
  return !core.finished() && !core.core.is_halted() && !core.core.hart().sleeps();
}

}  // namespace

SpinWatch::SpinWatch(const Node& node, const Pulse& pulse, double limit_s, const RunClock& clock)
    : node_(node), limit_(limit_s), clock_(clock), progress_(progress(pulse)), since_(clock.elapsed()) {}

std::uint64_t SpinWatch::progress(const Pulse& pulse) const {
  std::uint64_t sum = progress_without_programs(pulse);
  for (const auto& gpu : node_.gpus()) {
    sum += gpu->processor.accesses();
    if (const auto* const core = core_of(*gpu)) sum += core->calls() + core->printed();
  }
  return sum;
}

bool SpinWatch::in_vain(const Pulse& pulse) {
  const std::uint64_t progress_now = progress(pulse);
  const RunClock::Seconds now = clock_.elapsed();
  if (progress_now != progress_) since_ = now;
  progress_ = progress_now;
  return now - since_ >= limit_ && !text().empty();
}

std::string SpinWatch::text() const {
  for (const auto& gpu : node_.gpus())
    if (const auto* const core = core_of(*gpu); core != nullptr && computes(*core))
      return fmt::format("the firmware of GPU {} at pc {}", core->gpu(), core->place(core->core.hart().pc));
  return {};
}

}  // namespace t3vp
