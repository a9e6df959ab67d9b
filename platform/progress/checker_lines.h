// What the checkers of a run have found. All ranks of a run call these at the same time, and get the same lines.
#pragma once

#include <string>
#include <vector>

#include "partition/all_gpus.h"

namespace t3vp {

/// One line about all violations of the protocol that `check` has found; empty when there is none. It names the first
/// one: of the first GPU with any, else on the links of the first rank with any.
std::string broken_rules(const AllGpus& all);

/// The first accesses that `check` memory and `check` races have found, a line each, and how many there are.
std::vector<std::string> wrong_accesses(const AllGpus& all);

}  // namespace t3vp
