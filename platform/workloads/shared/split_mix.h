// A hash of 64 bits: the finalizer of SplitMix64 (Steele, Lea and Flood, Fast Splittable Pseudorandom Number
// Generators, 2014).
#pragma once

#include <cstdint>

namespace t3vp {

inline std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
  x = (x ^ x >> 27) * 0x94D049BB133111EB;
  return x ^ x >> 31;
}

}  // namespace t3vp
