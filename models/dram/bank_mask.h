// Sets of banks as bits of a word. Plain C++, no SystemC.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace t3vp::dram {

inline constexpr std::uint32_t max_banks = 64;  ///< of all pseudo-channels of a channel

using Banks = std::uint64_t;  ///< a bit per bank of the channel

inline Banks bit_of(std::uint32_t bank) { return Banks{1} << bank; }

/// Of a set that is not empty.
inline std::uint32_t lowest(Banks banks) { return static_cast<std::uint32_t>(__builtin_ctzll(banks)); }

/// The first in turn from `first` on, of a set that is not empty.
inline std::uint32_t first_from(Banks banks, std::uint32_t first) {
  const Banks from_first = banks & (~Banks{0} << first);
  return lowest(from_first != 0 ? from_first : banks);
}

/// Banks in the order of their requests' age; few leave or enter far from the ends.
class BanksByAge {
 public:
  /// `older(a, b)`: whether a's request is older than b's.
  template <class Older>
  void insert(std::uint32_t bank, Older&& older) {
    std::size_t at = count_++;
    for (; at > 0 && older(bank, banks_[at - 1]); --at) banks_[at] = banks_[at - 1];
    banks_[at] = static_cast<std::uint8_t>(bank);
  }

  void erase(std::uint32_t bank) {
    std::size_t at = 0;
    while (banks_[at] != bank) ++at;
    for (--count_; at < count_; ++at) banks_[at] = banks_[at + 1];
  }

  /// Of a set that is not empty and whose banks are all here.
  std::uint32_t oldest(Banks banks) const {
    std::size_t at = 0;
    while ((banks >> banks_[at] & 1) == 0) ++at;
    return banks_[at];
  }

 private:
  std::array<std::uint8_t, max_banks> banks_{};
  std::size_t count_ = 0;
};

template <class Visitor>
void for_each_bank(Banks banks, Visitor&& visit) {
  for (; banks != 0; banks &= banks - 1) visit(lowest(banks));
}

}  // namespace t3vp::dram
