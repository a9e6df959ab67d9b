// Some of an experiment's cases.
#pragma once

#include <string>
#include <vector>

#include "experiment/experiment.h"

namespace t3vp {

/// Keeps the cases of which one of the names is the name or a tag; without names all of them. Plots along axes and
/// targets go when a case of theirs does, and the experiment's `left_out` says so. Throws InputError about a name that
/// no case has.
void choose_cases(Experiment& experiment, const std::vector<std::string>& names);

}  // namespace t3vp
