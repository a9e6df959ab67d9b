// Packets that do not get on, and what they wait for.
#pragma once

#include <string>
#include <vector>

#include "node/node.h"

namespace t3vp {

/// What waits in all GPUs, whose firmware may have ended long ago, and in all links.
std::vector<std::string> packet_lines(const Node& node);

}  // namespace t3vp
