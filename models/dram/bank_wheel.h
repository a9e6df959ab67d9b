// Which banks come to their own time at which cycle: a timing wheel. Plain C++, no SystemC.
#pragma once

#include <algorithm>
#include <array>

#include "dram/bank_mask.h"
#include "dram/command.h"

namespace t3vp::dram {

template <class Banks>
class BankWheel {
 public:
  /// A bank whose time lies beyond the wheel's reach comes early, to be added again.
  void add(std::uint32_t bank, Cycle time, Cycle now) {
    const Cycle slot = std::min(time, now + slots - 1) % slots;
    due_[slot] |= bit_of<Banks>(bank);
    occupied_ |= std::uint64_t{1} << slot;
  }

  bool due(Cycle now) const { return (occupied_ >> now % slots & 1) != 0; }

  Banks take(Cycle now) {
    const Cycle slot = now % slots;
    const Banks taken = due_[slot];
    due_[slot] = 0;
    occupied_ &= ~(std::uint64_t{1} << slot);
    return taken;
  }

  /// First cycle after `now` at which a bank is due.
  Cycle next(Cycle now) const {
    if (occupied_ == 0) return never_cycle;
    const auto shift = static_cast<unsigned>((now + 1) % slots);
    const std::uint64_t ahead = shift == 0 ? occupied_ : occupied_ >> shift | occupied_ << (slots - shift);
    return now + 1 + lowest(ahead);
  }

  void remove(Banks banks) {
    for (Banks& due : due_) due &= ~banks;
  }

 private:
  static constexpr unsigned slots = 64;
  std::array<Banks, slots> due_{};
  std::uint64_t occupied_ = 0;
};

}  // namespace t3vp::dram
