// Free parameters of the memory side. Those of the system file: *.parameters.json. Their sources: docs/timing.md.
#pragma once

#include <cstdint>
#include <optional>

#include "dram/memory_spec.h"
#include "memory/memory_parameters.h"
#include "memory/tracker_parameters.h"

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

struct MemoryParameters : MemoryFileParameters {
  dram::MemorySpec dram;  ///< of one channel
  MemoryFaults faults;    ///< of this GPU's controller
};

/// Peak of all channels together.
inline double peak_GBps(const MemoryParameters& parameters) {
  const dram::MemorySpec& dram = parameters.dram;
  return dram.clock_GHz * dram.geometry.access_bytes / dram.timing.BURST * dram.geometry.pseudo_channels *
         parameters.channels;
}

}  // namespace t3vp::memory
