// Sets of banks as bits of a word. Plain C++, no SystemC.
//
// Channels of up to 64 banks, which all but the highest stacks are, take a machine word: with the wide one they cost a
// third more time.
#pragma once

#include <cstdint>

namespace t3vp::dram {

/// A bit per bank of the channel.
using FewBanks = std::uint64_t;
__extension__ using ManyBanks = unsigned __int128;

template <class Banks>
inline constexpr std::uint32_t capacity_of = 8 * sizeof(Banks);

inline constexpr std::uint32_t max_banks = capacity_of<ManyBanks>;  ///< of all pseudo-channels of a channel

template <class Banks>
Banks bit_of(std::uint32_t bank) {
  return Banks{1} << bank;
}

/// The set must not be empty.
inline std::uint32_t lowest(FewBanks banks) { return static_cast<std::uint32_t>(__builtin_ctzll(banks)); }

inline std::uint32_t lowest(ManyBanks banks) {
  const auto low = static_cast<FewBanks>(banks);
  return low != 0 ? lowest(low) : 64 + lowest(static_cast<FewBanks>(banks >> 64));
}

/// Returns the number of bits of an 8-bit number. A call of count_of() would cost more: not every machine has an
/// instruction for it.
inline std::uint32_t bits_in(std::uint32_t eight) {
  eight = (eight & 0x55) + (eight >> 1 & 0x55);
  eight = (eight & 0x33) + (eight >> 2 & 0x33);
  return (eight & 0xf) + (eight >> 4);
}

inline std::uint32_t count_of(FewBanks banks) { return static_cast<std::uint32_t>(__builtin_popcountll(banks)); }

inline std::uint32_t count_of(ManyBanks banks) {
  return count_of(static_cast<FewBanks>(banks)) + count_of(static_cast<FewBanks>(banks >> 64));
}

/// Returns the first bank of a set from `first` on, in round-robin order. The set must not be empty.
template <class Banks>
std::uint32_t first_from(Banks banks, std::uint32_t first) {
  const Banks from_first = banks & (~Banks{0} << first);
  return lowest(from_first != 0 ? from_first : banks);
}

template <class Banks, class Visitor>
void for_each_bank(Banks banks, Visitor&& visit) {
  for (; banks != 0; banks &= banks - 1) visit(lowest(banks));
}

}  // namespace t3vp::dram
