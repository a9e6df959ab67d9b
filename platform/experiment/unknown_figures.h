// Names of figures that nothing has: of statistics, links and operations only the runs know which there are.
#pragma once

#include <string>
#include <vector>

#include "experiment/results.h"

namespace t3vp {

/// A line for each place that asks for a figure which no row of the results has, with the nearest names that there are.
std::vector<std::string> unknown_figures(const Experiment& experiment, const Plan& plan, const Results& results);

}  // namespace t3vp
