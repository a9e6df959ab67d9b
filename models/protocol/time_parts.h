// The parts of a time on the critical path, by what took it. Plain C++, no SystemC.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "protocol/picoseconds.h"

namespace t3vp {

/// What time on the critical path was spent on (docs/models/bounded-by.md).
enum class Part : std::uint8_t {
  matrix,              ///< matrix and vector units compute
  tile_quantization,   ///< they compute the clipped part of tiles at the edges
  wave_quantization,   ///< they compute the last round of workgroups, beyond its even share of the compute units
  dram_bandwidth,      ///< waits while the DRAM's data bus or a bank group was busy
  dram_turnaround,     ///< waits for the change between reads and writes
  dram_row_misses,     ///< waits for precharge, activation and refresh
  dram_update,         ///< waits for the longer column access of near-memory updates
  dram_latency,        ///< the path to memory and back: cache, path and the DRAM's own latency
  cache_bandwidth,     ///< ports of compute units and banks of the cache move bytes, those ahead too
  link_serialization,  ///< bytes leave on a link
  link_latency,        ///< latency of links and switches
  link_credits,        ///< credits come back
  nic,                 ///< NICs, their I/O link and fabric
  launch,              ///< the program's accesses, and a kernel's packet until its first workgroup starts
  sync,                ///< signals, polls and interrupts
  tracker,             ///< from a tile's last access to its trigger
  dma,                 ///< the DMA engine
};
inline constexpr std::size_t part_count = 17;

inline constexpr const char* part_names[part_count] = {"matrix",
                                                       "tile_quantization",
                                                       "wave_quantization",
                                                       "dram_bandwidth",
                                                       "dram_turnaround",
                                                       "dram_row_misses",
                                                       "dram_update",
                                                       "dram_latency",
                                                       "cache_bandwidth",
                                                       "link_serialization",
                                                       "link_latency",
                                                       "link_credits",
                                                       "nic",
                                                       "launch",
                                                       "sync",
                                                       "tracker",
                                                       "dma"};

/// Time by part.
using TimeParts = std::array<Picoseconds, part_count>;

inline Picoseconds& of(TimeParts& parts, Part part) { return parts[static_cast<std::size_t>(part)]; }
inline Picoseconds of(const TimeParts& parts, Part part) { return parts[static_cast<std::size_t>(part)]; }

inline Picoseconds sum_of(const TimeParts& parts) {
  Picoseconds sum = 0;
  for (const Picoseconds part : parts) sum += part;
  return sum;
}

inline TimeParts& operator+=(TimeParts& parts, const TimeParts& more) {
  for (std::size_t i = 0; i < part_count; ++i) parts[i] += more[i];
  return parts;
}

}  // namespace t3vp
