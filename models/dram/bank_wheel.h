// Which banks come to their own time for which command at which cycle: a timing wheel. Plain C++, no SystemC.
#pragma once

#include <array>
#include <cstddef>

#include "dram/bank_mask.h"
#include "dram/timing_state.h"

namespace t3vp::dram {

class BankWheel {
 public:
  struct Due {
    std::array<Banks, need_count> banks{};  ///< by what they need
    Banks early = 0;                        ///< whose time lies beyond the wheel's reach: to be added again
  };

  void add(std::uint32_t bank, Need need, Cycle time, Cycle now) {
    const bool reached = time - now < slots;
    const Cycle slot = (reached ? time : now + slots - 1) % slots;
    (reached ? due_[slot].banks[static_cast<std::size_t>(need)] : due_[slot].early) |= bit_of(bank);
    occupied_ |= Banks{1} << slot;
  }

  bool due(Cycle now) const { return (occupied_ >> now % slots & 1) != 0; }

  Due take(Cycle now) {
    const Cycle slot = now % slots;
    const Due taken = due_[slot];
    due_[slot] = Due{};
    occupied_ &= ~(Banks{1} << slot);
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
    for (Due& due : due_) {
      for (Banks& needing : due.banks) needing &= ~banks;
      due.early &= ~banks;
    }
  }

 private:
  static constexpr unsigned slots = 64;
  std::array<Due, slots> due_{};
  std::uint64_t occupied_ = 0;
};

}  // namespace t3vp::dram
