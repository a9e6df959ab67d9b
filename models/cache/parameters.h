// Free parameters of the last-level cache. Values and sources: the system file and docs/timing.md.
#pragma once

#include <cstdint>

#include "protocol/picoseconds.h"

namespace t3vp::cache {

struct CacheParameters {
  std::uint64_t capacity_bytes = 16u << 20;
  std::uint32_t banks = 64;  ///< a power of two
  std::uint32_t ways = 16;
  std::uint32_t line_bytes = 128, sector_bytes = 32;  ///< powers of two
  double clock_GHz = 1.4;
  double bank_bytes_per_cycle = 32;
  Picoseconds latency = 114'300;  ///< compute unit to cache and back on a hit
  /// What the NIC writes drops the bytes that it overwrites, as peers' writes do. Otherwise they stay, and are stale.
  bool nic_writes_invalidate = true;
};

}  // namespace t3vp::cache
