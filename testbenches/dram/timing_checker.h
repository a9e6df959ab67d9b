// Checks a command log against every timing rule of a memory, by a table of pairwise distances and a model of which
// rows are open. Shares nothing with the channel's own bookkeeping.
#pragma once

#include <string>
#include <vector>

#include "dram/command.h"
#include "dram/memory_spec.h"

namespace t3vp::dram {

/// One line per violation; empty when the log is clean.
std::vector<std::string> timing_violations(const MemorySpec& spec, const std::vector<Command>& log);

}  // namespace t3vp::dram
