// The cases of an experiment file: a list of them, or the product of axes.
#pragma once

#include <string>
#include <vector>

#include "experiment/experiment.h"

namespace t3vp {

/// Adds cases and axes of the document to the experiment. Throws InputError.
void read_cases(const Document& document, Experiment& experiment);

/// What an object of keys and values at this pointer sets, as --set has it. Files are relative to the experiment's.
/// Throws InputError about a file that is not there, and about the method, which has a place of its own.
std::vector<std::string> settings_of(const Document& document, const std::string& pointer);

}  // namespace t3vp
