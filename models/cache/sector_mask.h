// Counting the sectors of a mask, up to eight.
#pragma once

#include <cstdint>

namespace t3vp::cache {

inline std::uint64_t count_sectors(std::uint32_t mask) {
  constexpr std::uint64_t nibbles = 0x4332322132212110;  // bits set in 0 to 15, four bits each
  return (nibbles >> (mask % 16 * 4) & 15) + (nibbles >> (mask / 16 * 4) & 15);
}

}  // namespace t3vp::cache
