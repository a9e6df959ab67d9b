// Packets that do not get on, and what they wait for.
#pragma once

#include <string>
#include <vector>

#include "node/node.h"

namespace t3vp {

/// Returns a line for each packet that waits in a GPU, whose firmware may have ended long ago, or in a link.
std::vector<std::string> packet_lines(const Node& node);

}  // namespace t3vp
