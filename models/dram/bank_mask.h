// Sets of banks as bits of a word. Plain C++, no SystemC.
#pragma once

#include <cstdint>

namespace t3vp::dram {

inline constexpr std::uint32_t max_banks = 128;  ///< of all pseudo-channels of a channel

__extension__ using Banks = unsigned __int128;  ///< a bit per bank of the channel

inline Banks bit_of(std::uint32_t bank) { return Banks{1} << bank; }

/// Of a set that is not empty.
inline std::uint32_t lowest(Banks banks) {
  const auto low = static_cast<std::uint64_t>(banks);
  return static_cast<std::uint32_t>(low != 0 ? __builtin_ctzll(low)
                                             : 64 + __builtin_ctzll(static_cast<std::uint64_t>(banks >> 64)));
}

inline std::uint32_t count_of(Banks banks) {
  return static_cast<std::uint32_t>(__builtin_popcountll(static_cast<std::uint64_t>(banks)) +
                                    __builtin_popcountll(static_cast<std::uint64_t>(banks >> 64)));
}

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
