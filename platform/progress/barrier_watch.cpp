#include "progress/barrier_watch.h"

#include <fmt/format.h>

#include "t3/t3.h"

namespace t3vp {
namespace {

/// So long no signal is on its way.
constexpr Picoseconds a_while = 1'000'000'000;

const Gpu& heard_of(const Node& node, std::size_t gpu) { return *node.gpus()[(gpu + 1) % node.gpus().size()]; }

/// That have ended before they came to the exchange that this GPU's program waits in.
std::vector<std::size_t> gone_before_exchange(const Node& node, const Gpu& gpu) {
  std::vector<std::size_t> gone;
  for (const std::size_t other : node.hosts().missing(gpu.processor.gpu()))
    if (node.gpus()[other]->processor.finished()) gone.push_back(other);
  return gone;
}

bool waits_in_barrier(const Gpu& gpu) {
  constexpr auto line = address_map::bit_of(address_map::Line::signals);
  return gpu.processor.awaits_interrupt() && (gpu.interrupts.enable.value() & line) != 0 &&
         gpu.signals.registers.watch.index() == T3_SIGNAL_BARRIER;
}

}  // namespace

std::string ended_before(const Node& node, const Gpu& gpu) {
  if (const auto gone = gone_before_exchange(node, gpu); gpu.processor.awaits_interrupt() && !gone.empty())
    return fmt::format(": the program of GPU {} has ended", gone.front());
  const processor::Processor& awaited = heard_of(node, gpu.processor.gpu()).processor;
  if (!waits_in_barrier(gpu) || !awaited.finished()) return {};
  return fmt::format(": the program of GPU {} has ended", awaited.gpu());
}

bool BarrierWatch::is_in_vain(std::size_t gpu) const { return !ended_before(node_, *node_.gpus()[gpu]).empty(); }

std::vector<std::string> BarrierWatch::give_up() {
  std::vector<std::string> told;
  for (std::size_t g = 0; g < waits_.size(); ++g) {
    Gpu& gpu = *node_.gpus()[g];
    const std::uint64_t counter = gpu.signals.registers.value[T3_SIGNAL_BARRIER].value();
    Wait& wait = waits_[g];
    if (!is_in_vain(g) || wait.since == never || counter != wait.counter) {
      wait = {is_in_vain(g) ? now() : never, counter};
    } else if (now() - wait.since >= a_while) {
      told.push_back(
          fmt::format("GPU {} firmware waits for {}{}", g, gpu.processor.waits_for(), ended_before(node_, gpu)));
      gpu.processor.give_up_waiting();
      wait.since = never;
    }
  }
  return told;
}

}  // namespace t3vp
