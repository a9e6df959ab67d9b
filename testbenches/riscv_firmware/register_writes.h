// What the program of each GPU writes to registers, in order, outside of what takes interrupts, and but for what waits
// write: which lines are enabled, and causes of interrupts.
#pragma once

#include <string>
#include <vector>

#include "config/configuration.h"

namespace t3vp::test {

/// A line for each write, "gpu 0: dma.command at 0xf00000a0000 = 0x1, 4 bytes"; the last says whether the run has
/// passed.
std::vector<std::string> register_writes(const RunConfiguration& configuration);

}  // namespace t3vp::test
