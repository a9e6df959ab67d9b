// DRAM traffic by class over time, from the counters of a run's trace.json (T3 Figure 17).
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace t3vp {

struct TrafficTimeline {
  double interval_us = 1;
  std::map<std::string, std::vector<double>> GBps;  ///< by traffic class, one value per interval, from 0

  double end_us() const;
  /// gnuplot: each of the classes as a line in its colour, the data in the block `name`; a class without data is in the
  /// legend alone.
  std::string panel(const std::string& name, const std::set<std::string>& classes) const;
};

/// What the panels of a picture have in common.
struct TrafficScale {
  double end_us = 0, GBps = 0;  ///< the largest
  std::set<std::string> classes;

  void include(const TrafficTimeline& timeline);
};

/// Reads the first GPU's; time begins after the setup. Throws std::runtime_error when there is no such trace.
TrafficTimeline read_traffic(const std::filesystem::path& trace, double setup_ns);

}  // namespace t3vp
