// Bars of quantities by case, and stacks of report metrics by case and method.
#pragma once

#include <string>

#include "experiment/results.h"

namespace t3vp {

/// gnuplot: a bar for each quantity and case, with error bars where there are replicates. Values are printed above the
/// bars where some of a case differ by at most 5%. The y axis begins at 0 unless all bars differ by so little.
std::string bars(const Plot& plot, const Experiment& experiment, const Results& results);

/// gnuplot: a bar for each case and method, of which each metric is a part.
std::string stacks(const Plot& plot, const Experiment& experiment, const Results& results);

}  // namespace t3vp
