// Names of the registers of libraries' blocks (docs/guides/blocks.md).
#pragma once

#include "node/node.h"

namespace t3vp {

/// From now on the registers of the node's plugged blocks have names, as those of the platform's blocks do.
void name_plugged_blocks(const Node& node);

}  // namespace t3vp
