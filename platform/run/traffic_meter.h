// What DRAM and links move within the phases of firmware, read at the phases' boundaries: bytes of before the start
// barrier or after the last GPU's end are in no figure that is compared with the time in between.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "node/node.h"
#include "report/report.h"

namespace t3vp {

class TrafficMeter {
 public:
  /// What a GPU's DRAM has moved and the links whose traffic is the GPU's have carried.
  struct Traffic {
    DramBytes dram{};  ///< whole column accesses
    std::vector<interconnect::LinkTraffic>
        links;  ///< in the node's order; packets that began and ended within the phase
  };

  /// Listens to the node's processors from now on.
  explicit TrafficMeter(const Node& node);
  TrafficMeter(const TrafficMeter&) = delete;
  TrafficMeter& operator=(const TrafficMeter&) = delete;

  /// Within the GPU's own phase; within the total from the first GPU's begin to the last GPU's end. Up to now when
  /// the phase has not ended; nothing when it has not begun.
  Traffic of(std::size_t gpu, const std::string& phase) const;

 private:
  struct Counters {
    DramBytes dram{};
    std::uint64_t queued_bytes = 0;  ///< in the DRAM queues, counted in `dram` already
    std::vector<interconnect::LinkTraffic> begun, sent;
  };
  struct Interval {
    Counters begin;
    Traffic moved;
    bool has_ended = false;
  };

  void boundary(std::size_t gpu, const std::string& phase, bool begin);
  void mark(std::size_t gpu, const std::string& phase, bool begin);
  Counters count(std::size_t gpu) const;
  static Traffic between(const Counters& begin, const Counters& end);

  const Node& node_;
  std::vector<std::vector<const interconnect::Link*>> links_;  ///< whose traffic is each GPU's
  std::vector<std::map<std::string, Interval>> intervals_;     ///< of each GPU, by phase
};

}  // namespace t3vp
