// The key `partition`: which process of a run simulates which GPU.
#pragma once

#include <cstdint>
#include <vector>

#include "io/json_document.h"

namespace t3vp {

/// Returns the rank of each GPU; empty when the run file has no such key. Throws InputError when a GPU has no rank or
/// two, or a rank between others has no GPU.
std::vector<std::uint32_t> read_partition(const Document& run, std::uint32_t gpus);

/// The ranks that it names.
std::uint32_t ranks_of(const std::vector<std::uint32_t>& partition);

}  // namespace t3vp
