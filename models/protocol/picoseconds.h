// Time inside the models is an integer number of picoseconds; bandwidth is in GB/s with 1 GB = 1e9 B, capacity in
// MiB with 1 MiB = 2^20 B. Plain C++, for what has no part in the simulation, such as parameters.
#pragma once

#include <cmath>
#include <cstdint>

namespace t3vp {

using Picoseconds = std::uint64_t;

inline constexpr Picoseconds never = ~Picoseconds{0};

inline Picoseconds from_ns(double ns) { return static_cast<Picoseconds>(std::llround(ns * 1000.0)); }
inline double to_ns(Picoseconds t) { return static_cast<double>(t) / 1000.0; }

/// Time to move `bytes` at `GBps` (1 GB/s moves one byte per nanosecond), rounded up to a picosecond.
inline Picoseconds transfer_time(std::uint64_t bytes, double GBps) {
  return static_cast<Picoseconds>(std::ceil(static_cast<double>(bytes) * 1000.0 / GBps));
}

/// Time of `cycles` at `GHz`, rounded to the nearest picosecond.
inline Picoseconds cycle_time(double cycles, double GHz) {
  return static_cast<Picoseconds>(std::llround(cycles * 1000.0 / GHz));
}

}  // namespace t3vp
