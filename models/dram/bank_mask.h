// Sets of banks as bits of a word. Plain C++, no SystemC.
#pragma once

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

template <class Visitor>
void for_each_bank(Banks banks, Visitor&& visit) {
  for (; banks != 0; banks &= banks - 1) visit(lowest(banks));
}

}  // namespace t3vp::dram
