// Quantities along an axis of a sweep.
#pragma once

#include <string>

#include "experiment/results.h"

namespace t3vp {

/// gnuplot: each quantity along the plot's x axis, a line for each choice on the other axes. More than six lines are
/// divided into panels with equal axes. With `x_values`, a line for each case, whose points are the quantities.
std::string line_plot(const Plot& plot, const Experiment& experiment, const Results& results);

}  // namespace t3vp
