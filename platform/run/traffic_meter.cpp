#include "run/traffic_meter.h"

#include <algorithm>

#include "protocol/traffic_classes.h"

namespace t3vp {
namespace {

bool is_timed(const std::string& phase) { return phase != phases::setup && phase != phases::operation; }

/// Returns the traffic since then, without the packet that was in flight at that time.
interconnect::LinkTraffic since(const interconnect::LinkTraffic& begun, const interconnect::LinkTraffic& sent) {
  const auto difference = [](std::uint64_t from, std::uint64_t to) { return to > from ? to - from : 0; };
  return {difference(begun.payload_bytes, sent.payload_bytes),
          difference(begun.wire_bytes, sent.wire_bytes),
          difference(begun.packets, sent.packets),
          difference(begun.stores, sent.stores),
          difference(begun.waited, sent.waited),
          difference(begun.stalled, sent.stalled)};
}

/// An access is counted as it enters the DRAM queue; what is still there in the end has not been moved.
void take_off(std::uint64_t bytes, DramBytes& dram) {
  for (const TrafficClass traffic : traffic_classes()) {
    std::uint64_t& moved = dram[index_of(traffic)];
    const std::uint64_t part = std::min(bytes, moved);
    moved -= part;
    bytes -= part;
  }
}

DramBytes moved_between(const memory::MemoryController::Traffic& begin, const memory::MemoryController::Traffic& end) {
  DramBytes moved{};
  for (std::size_t c = 0; c < moved.size(); ++c) moved[c] = end.entered[c] - begin.entered[c];
  take_off(end.queued, moved);
  return moved;
}

/// Phases begin with their first GPU, and end with their last one.
template <typename Interval, typename Count>
void mark(Interval& of_phase, const PhaseBoundary& boundary, const Count& count) {
  if (of_phase.begun == never || boundary.time < of_phase.begun) {
    of_phase.begun = boundary.time;
    of_phase.begin = count(boundary.time);
  }
  if (boundary.begin || (of_phase.ended != never && boundary.time < of_phase.ended)) return;
  of_phase.ended = boundary.time;
  of_phase.end = count(boundary.time);
}

}  // namespace

TrafficMeter::TrafficMeter(const Node& node, std::function<void(const PhaseBoundary&)> pass_on)
    : node_(node), dram_(node.gpus().size()) {
  for (std::size_t gpu = 0; gpu < node.gpus().size(); ++gpu)
    node.gpus()[gpu]->processor.on_boundary([this, gpu, pass_on](const std::string& phase, bool begin) {
      const PhaseBoundary boundary{gpu, phase, begin, now()};
      note(boundary);
      if (pass_on) pass_on(boundary);
    });
}

void TrafficMeter::note(const PhaseBoundary& boundary) {
  if (!is_timed(boundary.phase)) return;
  mark_links(boundary);
  // The total is the node's: it begins everywhere with the first GPU and ends with the last one.
  if (boundary.phase != phases::total) return mark_dram(boundary.gpu, boundary);
  for (std::size_t g = 0; g < dram_.size(); ++g) mark_dram(g, boundary);
}

void TrafficMeter::mark_dram(std::size_t gpu, const PhaseBoundary& boundary) {
  auto& of_phase = dram_[gpu].try_emplace(boundary.phase, DramInterval{never, never, {}, {}}).first->second;
  mark(of_phase, boundary, [&](Picoseconds time) { return node_.gpus()[gpu]->memory.traffic_before(time); });
}

void TrafficMeter::mark_links(const PhaseBoundary& boundary) {
  auto& of_phase = links_.try_emplace(boundary.phase, Interval<LinkCounters>{never, never, {}, {}}).first->second;
  mark(of_phase, boundary, [this](Picoseconds time) { return count_links(time); });
}

TrafficMeter::LinkCounters TrafficMeter::count_links(Picoseconds time) const {
  LinkCounters counters;
  for (const auto& link : node_.links()) {
    counters.begun.push_back(link->begun_before(time));
    counters.sent.push_back(link->sent_before(time));
  }
  return counters;
}

DramBytes TrafficMeter::dram(std::size_t gpu, const std::string& phase) const {
  const auto found = dram_[gpu].find(phase);
  if (found == dram_[gpu].end()) return {};
  const auto& of_phase = found->second;
  const auto current = node_.gpus()[gpu]->memory.traffic_before(never);
  return moved_between(of_phase.begin, of_phase.ended == never ? current : of_phase.end);
}

TrafficMeter::Links TrafficMeter::links(const std::string& phase) const {
  const auto found = links_.find(phase);
  if (found == links_.end()) return Links(node_.links().size());
  const auto& of_phase = found->second;
  const LinkCounters end = of_phase.ended == never ? count_links(never) : of_phase.end;
  Links moved;
  for (std::size_t l = 0; l < end.sent.size(); ++l) moved.push_back(since(of_phase.begin.begun[l], end.sent[l]));
  return moved;
}

}  // namespace t3vp
