// The activations of a pseudo-channel's banks, in slots of a length such that any use of them is legal on average: one
// activation in each tRRD, four in each tFAW. Plain C++, no SystemC.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "dram/command.h"
#include "dram/memory_spec.h"

namespace t3vp::dram {

class ActivationSlots {
 public:
  explicit ActivationSlots(const Timing& timing) : length_(std::max({4 * timing.RRDS, timing.FAW, 4u})) {}

  /// Takes the first free slot that ends after `earliest`. Returns the time of the activation.
  Cycle take(Cycle earliest) {
    auto slot = static_cast<std::uint32_t>(4 * earliest / length_) + 1;
    while (used_[slot % slots] == slot) ++slot;
    used_[slot % slots] = slot;
    return std::max(earliest, (Cycle{slot - 1} * length_ + 3) / 4);
  }

 private:
  static constexpr std::uint32_t slots = 64;
  std::uint32_t length_;  ///< in quarters of a cycle
  std::array<std::uint32_t, slots> used_{};  ///< numbers from 1
};

}  // namespace t3vp::dram
