// The points of scatter and Pareto plots, and which of them no other dominates.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiment/results.h"

namespace t3vp {

/// Where a point is along one axis, and the range of that over replicates.
struct Coordinate {
  double value = 0;
  std::optional<ValueRange> range;
};

struct ScatterPoint {
  std::size_t case_index = 0;
  std::string method;  ///< empty when neither coordinate is a figure of the report
  Coordinate x, y;
};

/// A point for each case and method of the plot, or for each case when neither coordinate is a figure of the report.
/// Those without a value are left out.
std::vector<ScatterPoint> points_of(const Plot& plot, const Experiment& experiment, const Results& results);

/// The points that points_of() leaves out.
std::vector<ScatterPoint> points_without_value(const Plot& plot, const Experiment& experiment, const Results& results);

/// The points that no other dominates, by rising x: none is as good in both coordinates and better in one. Of equal
/// points all are there.
std::vector<ScatterPoint> front_of(const Plot& plot, std::vector<ScatterPoint> points);

}  // namespace t3vp
