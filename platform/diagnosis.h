// Why nothing happens any more.
#pragma once

#include <string>
#include <vector>

#include "platform/configuration.h"
#include "platform/node.h"

namespace t3vp {

/// For every GPU whose firmware waits: for what, which Tracker entries are short, what they have and expect, and who
/// owes the rest. At most about five lines each, causes before consequences.
std::vector<std::string> diagnosis(const RunConfiguration& configuration, const Node& node);

}  // namespace t3vp
