// What an experiment found, for people: result.md.
#pragma once

#include <string>

#include "experiment/results.h"

namespace t3vp {

/// Markdown with aligned columns: quantities by case, targets with the misses first, failed runs, pictures.
std::string summary(const Experiment& experiment, const Results& results, const std::vector<std::string>& pictures);

}  // namespace t3vp
