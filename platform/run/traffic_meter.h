// The traffic of DRAM and links within the phases of firmware, read at the phases' boundaries. Bytes before the start
// barrier or after the last GPU's end are in no metric that is compared with the time in between.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "node/node.h"
#include "report/report.h"

namespace t3vp {

class TrafficMeter {
 public:
  using Links = std::vector<interconnect::LinkTraffic>;  ///< in the node's order

  /// Listens to the node's processors from now on.
  explicit TrafficMeter(const Node& node);
  TrafficMeter(const TrafficMeter&) = delete;
  TrafficMeter& operator=(const TrafficMeter&) = delete;

  /// Whole column accesses of the GPU's DRAM within its own phase; within the total from the first GPU's begin to the
  /// last GPU's end. Up to now when the phase has not ended; nothing when it has not begun.
  DramBytes dram(std::size_t gpu, const std::string& phase) const;

  /// Packets that began and ended on each link from the first GPU's begin of the phase to the last GPU's end: a link
  /// forwards for others when its own GPU has ended. Up to now and nothing as for `dram`.
  Links links(const std::string& phase) const;

 private:
  struct DramCounters {
    DramBytes entered{};
    std::uint64_t queued_bytes = 0;  ///< in the DRAM queues, counted in `entered` already
  };
  struct LinkCounters {
    Links begun, sent;
  };
  template <typename Counters, typename Moved>
  struct Interval {
    Counters begin;
    Moved moved;
    bool has_ended = false;
  };

  void boundary(std::size_t gpu, const std::string& phase, bool begin);
  void mark_dram(std::size_t gpu, const std::string& phase, bool begin);
  void mark_links(const std::string& phase, bool begin);
  DramCounters count_dram(std::size_t gpu) const;
  LinkCounters count_links() const;
  DramBytes moved_since(const DramCounters& begin, std::size_t gpu) const;
  Links moved_since(const LinkCounters& begin) const;

  const Node& node_;
  std::vector<std::map<std::string, Interval<DramCounters, DramBytes>>> dram_;  ///< of each GPU, by phase
  std::map<std::string, Interval<LinkCounters, Links>> links_;                  ///< by phase
};

}  // namespace t3vp
