// The activations of some banks, in slots of a length such that any use of them is legal on average: for a
// pseudo-channel one activation in each tRRDS and four in each tFAW, for a bank group one in each tRRDL. Plain C++, no
// SystemC.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "dram/command.h"
#include "dram/memory_spec.h"

namespace t3vp::dram {

class ActivationSlots {
 public:
  explicit ActivationSlots(std::uint32_t quarters_of_a_cycle) : length_(std::max(quarters_of_a_cycle, 4u)) {}

  /// Takes the first free slot that ends after `earliest`. Returns the time of the activation.
  Cycle take(Cycle earliest) {
    std::uint32_t slot = slot_of(earliest);
    while (used_[slot % slots] == slot) ++slot;
    used_[slot % slots] = slot;
    return std::max(earliest, (Cycle{slot - 1} * length_ + 3) / 4);
  }

  /// None of the activations in later slots takes place.
  void forget_after(Cycle now) {
    for (std::uint32_t& used : used_)
      if (used > slot_of(now)) used = 0;
  }

 private:
  static constexpr std::uint32_t slots = 64;

  std::uint32_t slot_of(Cycle cycle) const { return static_cast<std::uint32_t>(4 * cycle / length_) + 1; }

  std::uint32_t length_;                     ///< in quarters of a cycle
  std::array<std::uint32_t, slots> used_{};  ///< numbers from 1
};

}  // namespace t3vp::dram
