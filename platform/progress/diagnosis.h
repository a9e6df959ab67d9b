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

/// At a deadlock: lists what never ends and was left behind by programs that ended well, by a timeout or by an abort.
void append_left_behind(const RunConfiguration& configuration, const Node& node, std::vector<std::string>& lines);

/// Returns the processor whose wait ends first at a deadlock; null when no program waits for an interrupt. `told` has
/// the number of such notifications of each GPU so far.
processor::Processor* next_to_give_up(const RunConfiguration& configuration, const Node& node,
                                      const std::vector<std::uint32_t>& told);

/// One line about all violations of the protocol that `check` has found; empty when there is none.
std::string broken_rules(const Node& node);

/// The first accesses that `check` memory and `check` races have found, a line each, and how many there are.
std::vector<std::string> wrong_accesses(const Node& node);

}  // namespace t3vp
