// Pictures of an experiment's results, drawn by gnuplot.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiment/results.h"

namespace t3vp {

struct Pictures {
  std::vector<std::string> files;     ///< names in the folder
  std::vector<std::string> failures;  ///< a line for each that gnuplot could not draw
  bool gnuplot_missing = false;
};

/// Writes NAME.gnuplot for every plot and lets gnuplot, where it is installed, make NAME.svg of it.
Pictures draw_plots(const Experiment& experiment, const Results& results, const Plan& plan,
                    const std::filesystem::path& folder);

}  // namespace t3vp
