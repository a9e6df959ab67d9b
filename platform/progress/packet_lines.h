// Packets that do not get on, and what they wait for.
#pragma once

#include <string>
#include <vector>

#include "partition/all_gpus.h"

namespace t3vp {

/// Returns a line for each packet that waits in a GPU, whose firmware may have ended long ago, or in a link. All
/// ranks of a run call it at the same time.
std::vector<std::string> packet_lines(const AllGpus& all);

}  // namespace t3vp
