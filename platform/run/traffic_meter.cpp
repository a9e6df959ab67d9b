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

}  // namespace

TrafficMeter::TrafficMeter(const Node& node) : node_(node), dram_(node.gpus().size()) {
  for (std::size_t gpu = 0; gpu < node.gpus().size(); ++gpu)
    node.gpus()[gpu]->processor.on_boundary(
        [this, gpu](const std::string& phase, bool begin) { boundary(gpu, phase, begin); });
}

void TrafficMeter::boundary(std::size_t gpu, const std::string& phase, bool begin) {
  if (!is_timed(phase)) return;
  mark_links(phase, begin);
  // The total is the node's: it begins everywhere with the first GPU and ends with the last one.
  if (phase != phases::total) return mark_dram(gpu, phase, begin);
  for (std::size_t g = 0; g < dram_.size(); ++g) mark_dram(g, phase, begin);
}

void TrafficMeter::mark_dram(std::size_t gpu, const std::string& phase, bool begin) {
  const auto [found, is_new] = dram_[gpu].try_emplace(phase);
  auto& interval = found->second;
  if (is_new) interval.begin = count_dram(gpu);
  if (begin) return;
  interval.moved = moved_since(interval.begin, gpu);
  interval.has_ended = true;
}

void TrafficMeter::mark_links(const std::string& phase, bool begin) {
  const auto [found, is_new] = links_.try_emplace(phase);
  auto& interval = found->second;
  if (is_new) interval.begin = count_links();
  if (begin) return;
  interval.moved = moved_since(interval.begin);
  interval.has_ended = true;
}

TrafficMeter::DramCounters TrafficMeter::count_dram(std::size_t gpu) const {
  const memory::MemoryController& memory = node_.gpus()[gpu]->memory;
  return {memory.dram_bytes(), memory.queued_bytes()};
}

TrafficMeter::LinkCounters TrafficMeter::count_links() const {
  LinkCounters counters;
  for (const auto& link : node_.links()) {
    counters.begun.push_back(link->begun());
    counters.sent.push_back(link->sent());
  }
  return counters;
}

DramBytes TrafficMeter::moved_since(const DramCounters& begin, std::size_t gpu) const {
  const DramCounters end = count_dram(gpu);
  DramBytes moved{};
  for (std::size_t c = 0; c < moved.size(); ++c) moved[c] = end.entered[c] - begin.entered[c];
  take_off(end.queued_bytes, moved);
  return moved;
}

TrafficMeter::Links TrafficMeter::moved_since(const LinkCounters& begin) const {
  const LinkCounters end = count_links();
  Links moved;
  for (std::size_t l = 0; l < end.sent.size(); ++l) moved.push_back(since(begin.begun[l], end.sent[l]));
  return moved;
}

DramBytes TrafficMeter::dram(std::size_t gpu, const std::string& phase) const {
  const auto found = dram_[gpu].find(phase);
  if (found == dram_[gpu].end()) return {};
  return found->second.has_ended ? found->second.moved : moved_since(found->second.begin, gpu);
}

TrafficMeter::Links TrafficMeter::links(const std::string& phase) const {
  const auto found = links_.find(phase);
  if (found == links_.end()) return Links(node_.links().size());
  return found->second.has_ended ? found->second.moved : moved_since(found->second.begin);
}

}  // namespace t3vp
