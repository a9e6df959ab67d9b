// Pictures of measured and simulated values, one against the other.
#pragma once

#include <filesystem>

#include "experiment/plots.h"
#include "experiment/validation.h"

namespace t3vp {

/// The NAMEs of all that draw_correlations() may write for any files.
std::vector<std::string> correlation_names();

/// Draws simulated over measured values of each file and unit on logarithmic axes, with the band within 10%. Writes
/// NAME.gnuplot and lets gnuplot, where it is installed, make NAME.svg of it.
Pictures draw_correlations(const std::vector<Prediction>& predictions, const std::filesystem::path& folder);

}  // namespace t3vp
