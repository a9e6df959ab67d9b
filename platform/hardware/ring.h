// GPUs in a ring with links in both directions (T3 5.1): a topology is a list of placements.
#pragma once

#include <cstdint>
#include <vector>

#include "hardware/parameters.h"

namespace t3vp {

/// Port 0 leads to the previous GPU, port 1 to the next one; two GPUs have one link in each direction, one has none.
/// Packets take the shorter way, that of the previous GPU when both are as long.
std::vector<Placement> ring(std::uint32_t gpus);

/// GPU 0 of a ring in which it stands for all of them: its only port leads to the previous GPU.
std::vector<Placement> mirrored_ring(std::uint32_t gpus);

}  // namespace t3vp
