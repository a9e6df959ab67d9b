// Packets that do not get on: what they wait for, and links that wait for each other.
#pragma once

#include <string>
#include <vector>

#include "hardware/node.h"

namespace t3vp {

/// What waits in all GPUs and links, whose firmware may have ended long ago. Links that wait for each other in a circle
/// come first.
std::vector<std::string> packet_lines(const Node& node);

}  // namespace t3vp
