#include "memory/interleave.h"

namespace t3vp {
namespace {

constexpr unsigned address_bits = 40;  // local HBM, protocol/address_map.h

/// An irreducible polynomial of each degree up to 8, bit i the coefficient of x^i.
constexpr std::uint32_t irreducible[] = {0x1, 0x3, 0x7, 0xB, 0x13, 0x25, 0x43, 0x83, 0x11B};

unsigned log2_of(std::uint64_t n) {
  unsigned bits = 0;
  while (n >>= 1) ++bits;
  return bits;
}

}  // namespace

Interleave::Interleave(std::uint32_t channels, std::uint32_t block_bytes, bool hash)
    : channel_bits_(log2_of(channels)), block_bits_(log2_of(block_bytes)), mask_(channels - 1), shifted_(channels) {
  hashed_bits_ = channel_bits_;
  while (hash && channel_bits_ != 0 && hashed_bits_ < address_bits - block_bits_) hashed_bits_ += channel_bits_;
  for (std::uint32_t c = 0; c < channels; ++c) {
    std::uint32_t product = c;
    for (unsigned i = 0; i < channel_bits_; ++i) {
      product <<= 1;
      if ((product & channels) != 0) product ^= irreducible[channel_bits_];
    }
    shifted_[c] = product;
  }
}

}  // namespace t3vp
