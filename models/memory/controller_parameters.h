// Free parameters of the memory side. A system's: *.parameters.json. Sources: docs/models/timing.md.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "dram/memory_spec.h"
#include "memory/memory_parameters.h"
#include "memory/policy_choice.h"
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
  dram::MemorySpec dram;    ///< of one channel
  MemoryFaults faults;      ///< of this GPU's controller
  bool near_memory = true;  ///< units that add updates; otherwise those that come were added by the cache
  double links_GBps = 0;    ///< what the GPU's links bring and take together; 0: not known
  Policies policies;        ///< that the arbitration register may choose
};

/// Peak of all channels together.
inline double peak_GBps(const MemoryParameters& parameters) {
  const dram::MemorySpec& dram = parameters.dram;
  return dram.clock_GHz * dram.geometry.access_bytes / dram.timing.BURST * dram.geometry.pseudo_channels *
         parameters.channels;
}

/// The given one, or the time in which the links bring or take one access of each channel. Links count up to a quarter
/// of the peak, so that aging alone gives communication at most every fifth access.
inline Picoseconds aging_of(const MemoryParameters& parameters) {
  if (parameters.aging != 0) return parameters.aging;
  const double most = peak_GBps(parameters) / 4;
  const double rate = parameters.links_GBps == 0 ? most : std::min(parameters.links_GBps, most);
  const double ns = static_cast<double>(parameters.dram.geometry.access_bytes) * parameters.channels / rate;
  return static_cast<Picoseconds>(std::llround(std::clamp(ns * 1000, 1.0, 4e9)));
}

}  // namespace t3vp::memory
