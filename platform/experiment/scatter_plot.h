// Pictures of one quantity against another.
#pragma once

#include <string>

#include "experiment/results.h"

namespace t3vp {

/// gnuplot: a named point for each case and method; a Pareto plot has a line along the points that no other
/// dominates, and rings around them. There must be a point.
std::string scatter_plot(const Plot& plot, const Experiment& experiment, const Results& results);

}  // namespace t3vp
