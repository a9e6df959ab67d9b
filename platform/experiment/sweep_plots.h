// Pictures of quantities over the axes of a sweep.
#pragma once

#include <string>

#include "experiment/results.h"

namespace t3vp {

/// gnuplot: each quantity along the plot's x axis, a line for each choice on the other axes.
std::string line_plot(const Plot& plot, const Experiment& experiment, const Results& results);

/// gnuplot: a panel for each quantity and choice on axes other than x and y. Those of a quantity have one scale of
/// colours.
std::string heat_map(const Plot& plot, const Experiment& experiment, const Results& results);

}  // namespace t3vp
