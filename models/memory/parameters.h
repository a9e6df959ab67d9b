// Free parameters of the memory side. Values and sources: the system file and docs/timing.md.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "dram/memory_spec.h"
#include "protocol/picoseconds.h"

namespace t3vp::memory {

/// Faults to inject, which prove that checks see them.
struct MemoryFaults {
  struct LoseUpdates {
    std::uint64_t elements = 0;       ///< the first so many that arrive are not added
    bool local = true, peers = true;  ///< of this GPU's blocks, of peers
  };
  struct FlipBit {
    std::uint64_t access = 0;  ///< number of the access to tensor data, from 0
    std::uint32_t bit = 0;     ///< of its first element
  };
  std::optional<LoseUpdates> lose_updates;
  std::optional<FlipBit> flip_bit;
  bool wrong_rounding = false;  ///< updates are rounded toward zero

  bool any() const { return lose_updates || flip_bit || wrong_rounding; }
};

struct MemoryParameters {
  dram::MemorySpec dram;        ///< of one channel
  std::uint32_t channels = 32;  ///< any number
  std::uint64_t capacity_bytes = std::uint64_t{32} << 30;
  std::uint32_t interleave_bytes = 256;  ///< a power of two, at least 32
  bool channel_hash = true;              ///< hash the channel number with the upper address bits
  Picoseconds path_latency = 71'400;     ///< last-level cache, link port or DMA engine to the DRAM queues
  std::array<double, 3> mca_bands{16, 32,
                                  48};   ///< occupancy seen in the first stage, in 32-byte entries, up to which
                                         ///< the limit is none, 30 and 10; above the last it is 5 (T3 4.5, 6.1.3)
  std::uint32_t mca_default_limit = 30;  ///< before the first stage is over
  std::uint32_t aging_ns = 2000;
  std::uint64_t valid_bits_bytes = 0;  ///< storage of a range's valid bits, one for each 32 bytes; 0: there are none
  MemoryFaults faults;                 ///< of this GPU's controller
};

/// Peak of all channels together.
inline double peak_GBps(const MemoryParameters& parameters) {
  const dram::MemorySpec& dram = parameters.dram;
  return dram.clock_GHz * dram.geometry.access_bytes / dram.timing.BURST * dram.geometry.pseudo_channels *
         parameters.channels;
}

struct TrackerParameters {
  std::uint32_t sets = 256, ways = 8;  ///< T3 4.2.1
  std::uint32_t chunks = 128;          ///< dma_map ranges
  bool strict = false;                 ///< refuse a chunk that may need a spill
};

}  // namespace t3vp::memory
