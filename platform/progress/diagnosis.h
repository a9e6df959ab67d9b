// Why nothing happens any more, and what the checkers of a run have found.
#pragma once

#include <string>
#include <vector>

#include "config/configuration.h"
#include "node/node.h"

namespace t3vp {

/// For every GPU whose firmware waits or polls: for what, which Tracker entries are short, what they have and expect,
/// and who owes the rest, at most about five lines each, causes before consequences; then what waits for the credits of
/// links and whose stores are not acknowledged.
std::vector<std::string> diagnosis(const RunConfiguration& configuration, const Node& node);

/// In a deadlock: what programs have left behind that ended well, or with a timeout or an
/// abort, and what will never end itself.
void append_left_behind(const RunConfiguration& configuration, const Node& node, std::vector<std::string>& lines);

/// Whose wait ends first in a deadlock; null when no program waits for an interrupt. `told` says how
/// often each GPU's has been notified.
processor::Processor* next_to_give_up(const RunConfiguration& configuration, const Node& node,
                                      const std::vector<std::uint32_t>& told);

/// One line about all violations of the protocol that `check` has found; empty when there is none.
std::string broken_rules(const Node& node);

}  // namespace t3vp
