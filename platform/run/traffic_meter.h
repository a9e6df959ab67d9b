// The traffic of DRAM and links within the phases of firmware. Counters are read as they were before the events of a
// boundary's time. Bytes before the start barrier or after the last GPU's end are in no metric that is compared with
// the time in between.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "node/node.h"
#include "partition/announcements.h"
#include "report/report.h"

namespace t3vp {

class TrafficMeter {
 public:
  using Links = std::vector<interconnect::LinkTraffic>;  ///< in the node's order

  /// Listens to the node's processors from now on, and passes their boundaries on.
  explicit TrafficMeter(const Node& node, std::function<void(const PhaseBoundary&)> pass_on = {});
  TrafficMeter(const TrafficMeter&) = delete;
  TrafficMeter& operator=(const TrafficMeter&) = delete;

  /// Takes a boundary, also one that another process has told of, in any order.
  void note(const PhaseBoundary& boundary);

  /// Whole column accesses of the GPU's DRAM within its own phase; within the total from the first GPU's begin to the
  /// last GPU's end. Up to now when the phase has not ended; nothing when it has not begun.
  DramBytes dram(std::size_t gpu, const std::string& phase) const;

  /// Packets that began and ended on each link from the first GPU's begin of the phase to the last GPU's end: a link
  /// forwards for others when its own GPU has ended. Up to now and nothing as for `dram`.
  Links links(const std::string& phase) const;

 private:
  struct LinkCounters {
    Links begun, sent;
  };
  template <typename Counters>
  struct Interval {
    Picoseconds begun, ended;  ///< never: it has not
    Counters begin, end;
  };
  using DramInterval = Interval<memory::MemoryController::Traffic>;

  void mark_dram(std::size_t gpu, const PhaseBoundary& boundary);
  void mark_links(const PhaseBoundary& boundary);
  LinkCounters count_links(Picoseconds time) const;

  const Node& node_;
  std::vector<std::map<std::string, DramInterval>> dram_;  ///< of each GPU, by phase
  std::map<std::string, Interval<LinkCounters>> links_;    ///< by phase
};

}  // namespace t3vp
