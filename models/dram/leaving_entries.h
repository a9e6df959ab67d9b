// Entries of a queue that leave it one by one, at cycles that are known ahead. Plain C++, no SystemC.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "dram/command.h"

namespace t3vp::dram {

class LeavingEntries {
 public:
  std::uint32_t count() const { return count_; }

  /// They leave at an even rate from now on. The last of them has left `span` cycles later, or 511 if that is less.
  void add(std::uint32_t entries, Cycle span) {
    count_ += entries;
    if (entries == 0) return;
    const std::uint32_t step = (static_cast<std::uint32_t>(std::min<Cycle>(span, slots - 1)) << 16) / entries;
    for (std::uint32_t i = 0, after = 0xffff; i < entries; ++i) {
      after += step;
      ++leave_[(now_ + (after >> 16)) % slots];
    }
  }

  /// Those whose cycle has come are gone.
  void advance(Cycle to) {
    while (count_ != 0 && now_ < to) {
      std::uint8_t& leave = leave_[++now_ % slots];
      count_ -= leave;
      leave = 0;
    }
    now_ = to;
  }

  /// Returns the next cycle at which an entry leaves.
  Cycle next() const {
    if (count_ == 0) return never_cycle;
    Cycle cycle = now_ + 1;
    while (leave_[cycle % slots] == 0) ++cycle;
    return cycle;
  }

 private:
  static constexpr std::uint32_t slots = 512;
  Cycle now_ = 0;
  std::uint32_t count_ = 0;
  std::array<std::uint8_t, slots> leave_{};  ///< of the next cycles
};

}  // namespace t3vp::dram
