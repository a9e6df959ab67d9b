// What a GPU's program waits for, polls and serves.
#pragma once

#include <string>

#include "node/node.h"

namespace t3vp {

/// "GPU 0 firmware waits for a kernel's end"; empty while the program does neither wait nor poll nor serve the same
/// interrupt lines again and again.
std::string activity_of(const Gpu& gpu);

/// What firmware polls and waits for, of the first GPUs that do: "; GPU 0 firmware waits for a kernel's end"; empty
/// when none does.
std::string firmware_activity(const Node& node);

}  // namespace t3vp
