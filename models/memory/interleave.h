// Local HBM addresses spread over the channels: blocks of `interleave_bytes` go to the channels in turn, the channel
// number folded with the address bits above it so that power-of-two strides do not fall into one channel.
#pragma once

#include <cstdint>

namespace t3vp {

class Interleave {
 public:
  /// Both numbers are powers of two.
  Interleave(std::uint32_t channels, std::uint32_t block_bytes, bool hash)
      : channel_bits_(log2_of(channels)), block_bits_(log2_of(block_bytes)), hash_(hash) {}

  std::uint32_t channel_of(std::uint64_t address) const {
    const std::uint64_t mask = (std::uint64_t{1} << channel_bits_) - 1;
    std::uint64_t block = address >> block_bits_;
    if (!hash_ || channel_bits_ == 0) return static_cast<std::uint32_t>(block & mask);
    std::uint64_t folded = 0;
    for (; block != 0; block >>= channel_bits_) folded ^= block;
    return static_cast<std::uint32_t>(folded & mask);
  }

  /// Byte address within the channel: without the channel bits. With the channel it determines the address, since the
  /// folded bits can be recovered from the upper ones.
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
  bool hash_;
};

}  // namespace t3vp
