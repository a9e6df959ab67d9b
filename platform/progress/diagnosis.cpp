#include "progress/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "progress/barrier_watch.h"
#include "progress/packet_lines.h"
#include "progress/program_activity.h"
#include "progress/pulse.h"
#include "progress/shortages.h"

namespace t3vp {
namespace {

using Lines = std::vector<std::string>;
using Explanations = std::vector<Explanation>;  // of a GPU's shortages

constexpr std::size_t told_in_full = 2;  // shortages of a GPU

void append(const Lines& more, Lines& lines) { lines.insert(lines.end(), more.begin(), more.end()); }

Lines tracker_lines(std::size_t gpu, Explanations explanations) {
  std::stable_partition(explanations.begin(), explanations.end(), [](const Explanation& e) { return e.is_cause(); });
  Lines lines;
  for (const Explanation& explanation : explanations) {
    if (lines.size() == told_in_full) break;
    lines.push_back(explanation.text());
  }
  if (const std::size_t left = explanations.size() - lines.size(); left != 0)
    lines.push_back(
        fmt::format("GPU {} Tracker: {} more mapped {} short", gpu, left, left == 1 ? "chunk is" : "chunks are"));
  return lines;
}

/// The first line of many that say the same.
void append_first(const Lines& more, Lines& lines) {
  if (more.empty()) return;
  lines.push_back(more.size() == 1 ? more[0] : fmt::format("{} (and {} more)", more[0], more.size() - 1));
}

Lines lines_of(const Node& node, const Pulse& pulse, const Explanations& explanations, const Gpu& gpu) {
  Lines lines;
  if (const std::string text = activity_of(gpu); !text.empty()) lines.push_back(text + ended_before(node, pulse, gpu));
  const Lines shortages = tracker_lines(gpu.processor.gpu(), explanations);
  append(shortages, lines);
  if (shortages.empty()) append_first(gpu.dma.diagnosis(), lines);  // otherwise it waits for the Tracker
  append_first(gpu.compute.diagnosis(), lines);
  append_first(gpu.signals.diagnosis(), lines);
  append_first(gpu.signals.untaken(), lines);
  const Component* const told[] = {&gpu.memory.tracker, &gpu.dma, &gpu.compute, &gpu.signals, &gpu.fabric};
  for (const Component* component : gpu.components())
    if (std::find(std::begin(told), std::end(told), component) == std::end(told))
      append_first(component->diagnosis(), lines);
  return lines;
}

/// What a program waits for that something other than time and its own GPU may end.
enum class Awaited : std::uint8_t { nothing, updates, signals };

Awaited awaited_by(const Gpu& gpu) {
  if (!gpu.processor.awaits_interrupt()) return Awaited::nothing;
  const bool for_signals = (gpu.interrupts.enable.value() & address_map::bit_of(address_map::Line::signals)) != 0;
  return for_signals || !gpu.signals.diagnosis().empty() ? Awaited::signals : Awaited::updates;
}

/// Something that other GPUs' programs have not done yet could end the program's wait.
bool may_wait_for_others(std::size_t gpu, const std::vector<Awaited>& awaited, const Explanations& explanations) {
  const auto goes_on = [&](std::size_t other) { return other != gpu && awaited[other] != Awaited::nothing; };
  bool any = false;
  for (std::size_t other = 0; other < awaited.size(); ++other) any = any || goes_on(other);
  if (!any || awaited[gpu] == Awaited::signals) return any;
  return std::any_of(explanations.begin(), explanations.end(),
                     [&](const Explanation& explanation) { return explanation.is_owed_by(goes_on); });
}

Lines lines_left_behind(const Gpu& gpu, const Explanations& explanations) {
  Lines lines;
  const Status status = gpu.processor.status();
  const bool has_given_up = status == Status::timeout || status == Status::aborted;
  if (!gpu.processor.finished() || (status != Status::ok && !has_given_up)) return lines;
  append_first(gpu.compute.diagnosis(), lines);
  append_first(gpu.signals.diagnosis(), lines);
  if (has_given_up) return lines;  // the rest follows from that
  append_first(gpu.signals.untaken(), lines);
  Lines begun;
  for (const Explanation& explanation : explanations)
    if (explanation.has_counted()) begun.push_back(explanation.text());
  append_first(begun, lines);
  return lines;
}

}  // namespace

std::vector<std::string> diagnosis(const RunConfiguration& configuration, const AllGpus& all) {
  const Pulse pulse = pulse_of(all);
  const std::vector<Explanations> explanations = explanations_of(configuration, all);
  Lines lines;
  for (const Lines& of_gpu : all.ask([&](const Gpu& gpu) {
         const std::uint32_t g = gpu.processor.gpu();
         return pulse[g].finished ? Lines() : lines_of(all.node(), pulse, explanations[g], gpu);
       }))
    append(of_gpu, lines);
  if (!lines.empty()) append(packet_lines(all), lines);
  return lines;
}

void append_left_behind(const RunConfiguration& configuration, const AllGpus& all, Lines& lines) {
  const std::vector<Explanations> explanations = explanations_of(configuration, all);
  for (const Lines& of_gpu :
       all.ask([&](const Gpu& gpu) { return lines_left_behind(gpu, explanations[gpu.processor.gpu()]); }))
    append(of_gpu, lines);
}

/// Programs that could wait for another GPU's program go last: the next actions of the others may be what they wait
/// for. A program that waits again and again after each notification does not keep the others from their turn.
std::optional<std::size_t> next_to_give_up(const RunConfiguration& configuration, const AllGpus& all,
                                           const std::vector<std::uint32_t>& told) {
  constexpr std::uint32_t in_a_row = 16;
  const std::vector<Awaited> awaited = all.ask(awaited_by);
  const std::vector<Explanations> explanations = explanations_of(configuration, all);
  std::optional<std::size_t> next;
  std::pair<std::uint32_t, bool> lowest;
  for (std::size_t g = 0; g < told.size(); ++g) {
    if (awaited[g] == Awaited::nothing) continue;
    const std::pair rank{told[g] / in_a_row, may_wait_for_others(g, awaited, explanations[g])};
    if (next && lowest <= rank) continue;
    next = g;
    lowest = rank;
  }
  return next;
}

}  // namespace t3vp
