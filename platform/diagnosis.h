// Why nothing happens any more, and what the checkers of a run have found.
#pragma once

#include <string>
#include <vector>

#include "platform/configuration.h"
#include "platform/node.h"

namespace t3vp {

/// For every GPU whose firmware waits: for what, which Tracker entries are short, what they have and expect, and who
/// owes the rest, at most about five lines each, causes before consequences; then what waits for the credits of links
/// and whose stores are not acknowledged.
std::vector<std::string> diagnosis(const RunConfiguration& configuration, const Node& node);

/// One line about all violations of the protocol that `check` has found; empty when there is none.
std::string broken_rules(const Node& node);

}  // namespace t3vp
