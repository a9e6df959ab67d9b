#include "run/traffic_meter.h"

#include <algorithm>

#include "protocol/traffic_classes.h"

namespace t3vp {
namespace {

bool is_timed(const std::string& phase) { return phase != phases::setup && phase != phases::operation; }

/// What was sent since, without the packet that was under way then.
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

TrafficMeter::TrafficMeter(const Node& node) : node_(node), links_(node.gpus().size()), intervals_(node.gpus().size()) {
  for (const auto& link : node.links()) links_[link->gpu()].push_back(link.get());
  for (std::size_t gpu = 0; gpu < node.gpus().size(); ++gpu)
    node.gpus()[gpu]->processor.on_boundary(
        [this, gpu](const std::string& phase, bool begin) { boundary(gpu, phase, begin); });
}

void TrafficMeter::boundary(std::size_t gpu, const std::string& phase, bool begin) {
  if (!is_timed(phase)) return;
  // The total is the node's: it begins everywhere with the first GPU and ends with the last one.
  if (phase != phases::total) return mark(gpu, phase, begin);
  for (std::size_t g = 0; g < intervals_.size(); ++g) mark(g, phase, begin);
}

void TrafficMeter::mark(std::size_t gpu, const std::string& phase, bool begin) {
  const auto [found, is_new] = intervals_[gpu].try_emplace(phase);
  Interval& interval = found->second;
  if (is_new) interval.begin = count(gpu);
  if (begin) return;
  interval.moved = between(interval.begin, count(gpu));
  interval.has_ended = true;
}

TrafficMeter::Counters TrafficMeter::count(std::size_t gpu) const {
  const memory::MemoryController& memory = node_.gpus()[gpu]->memory;
  Counters counters{memory.dram_bytes(), memory.queued_bytes(), {}, {}};
  for (const interconnect::Link* link : links_[gpu]) {
    counters.begun.push_back(link->begun());
    counters.sent.push_back(link->sent());
  }
  return counters;
}

TrafficMeter::Traffic TrafficMeter::between(const Counters& begin, const Counters& end) {
  Traffic traffic;
  for (std::size_t c = 0; c < traffic.dram.size(); ++c) traffic.dram[c] = end.dram[c] - begin.dram[c];
  take_off(end.queued_bytes, traffic.dram);
  for (std::size_t l = 0; l < end.sent.size(); ++l) traffic.links.push_back(since(begin.begun[l], end.sent[l]));
  return traffic;
}

TrafficMeter::Traffic TrafficMeter::of(std::size_t gpu, const std::string& phase) const {
  const auto found = intervals_[gpu].find(phase);
  if (found == intervals_[gpu].end()) return {{}, std::vector<interconnect::LinkTraffic>(links_[gpu].size())};
  return found->second.has_ended ? found->second.moved : between(found->second.begin, count(gpu));
}

}  // namespace t3vp
