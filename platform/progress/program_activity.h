// The activity of a GPU's program: its waits, its polls and the interrupts that it serves.
#pragma once

#include <string>

#include "partition/all_gpus.h"

namespace t3vp {

/// "GPU 0 firmware waits for a kernel's end"; empty while the program does neither wait nor poll nor serve the same
/// interrupt lines again and again.
std::string activity_of(const Gpu& gpu);

/// Returns the waits and polls of the first GPUs whose firmware has any: "; GPU 0 firmware waits for a kernel's end".
/// The text is empty when there are none. All ranks of a run call it at the same time.
std::string firmware_activity(const AllGpus& all);

}  // namespace t3vp
