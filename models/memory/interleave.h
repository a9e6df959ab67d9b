// Local HBM addresses spread over the channels: blocks of `interleave_bytes` go to the channels in turn, the channel
// number hashed with the address bits above it so that no row stride falls into few channels.
#pragma once

#include <cstdint>
#include <vector>

namespace t3vp {

class Interleave {
 public:
  /// Both numbers are powers of two, at most 256 channels. With `hash` the channel is the block number, read as a
  /// polynomial over GF(2), modulo an irreducible one (Rau, Pseudo-Randomly Interleaved Memory, ISCA 1991), as
  /// Accel-Sim's IPOLY indexing does.
  Interleave(std::uint32_t channels, std::uint32_t block_bytes, bool hash);

  std::uint32_t channel_of(std::uint64_t address) const {
    const std::uint64_t block = address >> block_bits_;
    std::uint32_t channel = 0;
    for (unsigned shift = hashed_bits_; shift != 0;) {
      shift -= channel_bits_;
      channel = shifted_[channel] ^ static_cast<std::uint32_t>(block >> shift & mask_);
    }
    return channel;
  }

  /// Byte address within the channel: without the channel bits. With the channel it determines the address, since the
  /// hash changes the channel bits by what the upper ones say.
  std::uint64_t local_of(std::uint64_t address) const {
    const std::uint64_t offset = address & ((std::uint64_t{1} << block_bits_) - 1);
    return address >> (block_bits_ + channel_bits_) << block_bits_ | offset;
  }

  std::uint32_t block_bytes() const { return std::uint32_t{1} << block_bits_; }

 private:
  unsigned channel_bits_, block_bits_;
  unsigned hashed_bits_;  ///< of the block number, a multiple of channel_bits_
  std::uint64_t mask_;
  std::vector<std::uint32_t> shifted_;  ///< [c]: c times x^channel_bits modulo the polynomial
};

}  // namespace t3vp
