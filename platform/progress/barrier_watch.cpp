#include "progress/barrier_watch.h"

#include <fmt/format.h>

#include "t3/t3.h"

namespace t3vp {
namespace {

/// So long no signal is on its way.
constexpr Picoseconds a_while = 1'000'000'000;

/// The GPU whose program has ended, and which this GPU's waits for in an exchange; the number of GPUs when there is
/// none.
std::size_t gone_before_exchange(const Node& node, const Pulse& pulse, const Gpu& gpu) {
  for (const std::size_t other : node.hosts().missing(gpu.processor.gpu()))
    if (pulse[other].finished) return other;
  return pulse.size();
}

bool waits_in_barrier(const Gpu& gpu) {
  constexpr auto line = address_map::bit_of(address_map::Line::signals);
  return gpu.processor.awaits_interrupt() && (gpu.interrupts.enable.value() & line) != 0 &&
         gpu.signals.registers.watch.index() == T3_SIGNAL_BARRIER;
}

}  // namespace

std::string ended_before(const Node& node, const Pulse& pulse, const Gpu& gpu) {
  if (!gpu.processor.awaits_interrupt()) return {};
  const auto text = [](std::size_t other) { return fmt::format(": the program of GPU {} has ended", other); };
  if (const std::size_t gone = gone_before_exchange(node, pulse, gpu); gone != pulse.size()) return text(gone);
  const std::size_t awaited = (gpu.processor.gpu() + 1) % pulse.size();
  return waits_in_barrier(gpu) && pulse[awaited].finished ? text(awaited) : "";
}

std::vector<GivenUpWait> BarrierWatch::give_up(const Pulse& pulse) {
  std::vector<GivenUpWait> told;
  for (std::size_t g = 0; g < waits_.size(); ++g) {
    Gpu& gpu = *node_.gpus()[g];
    const std::string ended = ended_before(node_, pulse, gpu);
    const std::uint64_t counter = gpu.signals.registers.value[T3_SIGNAL_BARRIER].value();
    Wait& wait = waits_[g];
    if (ended.empty() || wait.since == never || counter != wait.counter) {
      wait = {ended.empty() ? never : now(), counter};
    } else if (now() - wait.since >= a_while) {
      told.push_back({now(), g, fmt::format("GPU {} firmware waits for {}{}", g, gpu.processor.waits_for(), ended)});
      gpu.processor.give_up_waiting();
      wait.since = never;
    }
  }
  return told;
}

}  // namespace t3vp
