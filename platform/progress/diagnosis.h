// Why nothing happens any more. All ranks of a run call these at the same time, and get the same lines.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/configuration.h"
#include "partition/all_gpus.h"

namespace t3vp {

/// For every GPU whose firmware waits or polls: for what, which Tracker entries are short, what they have and expect,
/// and who owes the rest, at most about five lines each, causes before consequences; then what waits for the credits of
/// links and whose stores are not acknowledged.
std::vector<std::string> diagnosis(const RunConfiguration& configuration, const AllGpus& all);

/// At a deadlock: lists what never ends and was left behind by programs that ended well, by a timeout or by an abort.
void append_left_behind(const RunConfiguration& configuration, const AllGpus& all, std::vector<std::string>& lines);

/// Returns the GPU whose program's wait ends first at a deadlock; none when no program waits for an interrupt. `told`
/// has the number of waits of each GPU that have ended so.
std::optional<std::size_t> next_to_give_up(const RunConfiguration& configuration, const AllGpus& all,
                                           const std::vector<std::uint32_t>& told);

}  // namespace t3vp
