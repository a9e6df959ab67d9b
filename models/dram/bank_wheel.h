// Which banks have something due at which cycle: a timing wheel of bank masks. Plain C++, no SystemC.
#pragma once

#include <array>
#include <cstdint>

#include "dram/command.h"

namespace t3vp::dram {

using Banks = std::uint64_t;  ///< a bit per bank of the channel

class BankWheel {
 public:
  /// A bank due later than the wheel reaches comes up early, at the horizon: its time is then asked again.
  void add(std::uint32_t bank, Cycle at, Cycle now) {
    const Cycle slot = (at - now < slots ? at : now + slots - 1) % slots;
    banks_[slot] |= Banks{1} << bank;
    occupied_ |= std::uint64_t{1} << slot;
  }

  Banks take(Cycle now) {
    const Cycle slot = now % slots;
    const Banks due = banks_[slot];
    banks_[slot] = 0;
    occupied_ &= ~(std::uint64_t{1} << slot);
    return due;
  }

  /// First cycle after `now` at which a bank is due.
  Cycle next(Cycle now) const {
    if (occupied_ == 0) return never_cycle;
    const auto shift = static_cast<unsigned>((now + 1) % slots);
    const std::uint64_t ahead = shift == 0 ? occupied_ : occupied_ >> shift | occupied_ << (slots - shift);
    return now + 1 + static_cast<Cycle>(__builtin_ctzll(ahead));
  }

 private:
  static constexpr unsigned slots = 64;
  std::array<Banks, slots> banks_{};
  std::uint64_t occupied_ = 0;
};

/// The banks of a mask in turn, from `first` on.
inline std::uint32_t first_from(Banks banks, std::uint32_t first) {
  const Banks from_first = banks & (~Banks{0} << first);
  return static_cast<std::uint32_t>(__builtin_ctzll(from_first != 0 ? from_first : banks));
}

template <class Visitor>
void for_each_bank(Banks banks, Visitor&& visit) {
  for (; banks != 0; banks &= banks - 1) visit(static_cast<std::uint32_t>(__builtin_ctzll(banks)));
}

}  // namespace t3vp::dram
