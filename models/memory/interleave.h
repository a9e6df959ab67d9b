// Local HBM addresses spread over the channels: blocks of `interleave_bytes` go to the channels in turn, the channel
// number hashed with the address bits above it so that no row stride falls into few channels.
#pragma once

#include <cstdint>

#include "protocol/polynomial_hash.h"

namespace t3vp {

class Interleave {
 public:
  /// Both numbers are powers of two, at most 256 channels.
  Interleave(std::uint32_t channels, std::uint32_t block_bytes, bool hash)
      : channel_bits_(log2_of(channels)), block_bits_(log2_of(block_bytes)), hashed_(hash), hash_(channel_bits_) {}

  std::uint32_t channel_of(std::uint64_t address) const {
    const std::uint64_t block = address >> block_bits_;
    return hashed_ ? hash_(block) : static_cast<std::uint32_t>(block & ((std::uint64_t{1} << channel_bits_) - 1));
  }

  /// Byte address within the channel: without the channel bits. With the channel it determines the address, since the
  /// hash changes the channel bits by what the upper ones say.
  std::uint64_t local_of(std::uint64_t address) const {
    const std::uint64_t offset = address & ((std::uint64_t{1} << block_bits_) - 1);
    return address >> (block_bits_ + channel_bits_) << block_bits_ | offset;
  }

  std::uint32_t block_bytes() const { return std::uint32_t{1} << block_bits_; }

 private:
  static unsigned log2_of(std::uint64_t n) {
    unsigned bits = 0;
    while (n >>= 1) ++bits;
    return bits;
  }
  unsigned channel_bits_, block_bits_;
  bool hashed_;
  PolynomialHash hash_;
};

}  // namespace t3vp
