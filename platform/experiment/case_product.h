// Cases as the product of the axes of cross.
#pragma once

#include <string>
#include <vector>

#include "experiment/experiment.h"

namespace t3vp {

using Choice = std::vector<std::size_t>;  ///< an entry of each axis

/// The index of the case: the last axis runs fastest.
std::size_t case_of(const Experiment& experiment, const Choice& choice);

/// Every choice on the axes that are not in `fixed`, with entry 0 on those that are.
std::vector<Choice> choices(const Experiment& experiment, const std::vector<std::size_t>& fixed);

/// "entry of the first axis, entry of the second" without the fixed axes.
std::string name_of(const Experiment& experiment, const Choice& choice, const std::vector<std::size_t>& fixed);

/// "first: second", or the one that is not empty.
std::string joined_names(const std::string& first, const std::string& second);

}  // namespace t3vp
