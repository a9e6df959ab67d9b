// DRAM traffic by class over time, from the counters of a run's trace.json (T3 Figure 17).
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace t3vp {

struct TrafficTimeline {
  double interval_us = 1;
  std::map<std::string, std::vector<double>> GBps;  ///< by traffic class, one value per interval, from 0

  double end_us() const;
  /// gnuplot: the classes as lines, their data in the block `name`.
  std::string panel(const std::string& name, const std::function<std::string(std::size_t)>& colour) const;
};

/// Of the first GPU; time begins after the setup. Throws std::runtime_error when there is no such trace.
TrafficTimeline read_traffic(const std::filesystem::path& trace, double setup_ns);

}  // namespace t3vp
