// Quantities over two axes of a sweep, as colours.
#pragma once

#include <string>

#include "experiment/results.h"

namespace t3vp {

/// gnuplot: a panel for each quantity and choice on axes other than x and y. Those of a quantity have one scale of
/// colours.
std::string heat_map(const Plot& plot, const Experiment& experiment, const Results& results);

}  // namespace t3vp
