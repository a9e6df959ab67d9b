// Spreads local HBM addresses over the channels. Blocks of `interleave_bytes` go to the channels round-robin. A hash of
// each round's number gives the channel that the round starts at, so that no row stride maps to few channels.
//
// With a power of two of channels, the round's hash is combined with the channel's bits (polynomial_hash.h). With any
// other number, rounds are counted by division and the hash is added. In both cases the address follows from the
// channel and the round's number, which is the block's index in its channel.
#pragma once

#include <cstdint>

#include "protocol/polynomial_hash.h"

namespace t3vp::memory {

class Interleave {
 public:
  /// `block_bytes` is a power of two, `channels` any number up to 65535.
  Interleave(std::uint32_t channels, std::uint32_t block_bytes, bool hash)
      : channels_(channels),
        channel_bits_(log2_of(channels)),
        block_bits_(log2_of(block_bytes)),
        divides_((channels & (channels - 1)) != 0),
        hashed_(hash),
        hash_(channel_bits_) {}

  std::uint32_t channel_of(std::uint64_t address) const {
    const std::uint64_t block = address >> block_bits_;
    if (divides_) return counted_channel_of(block);
    return hashed_ ? hash_(block) : static_cast<std::uint32_t>(block & (channels_ - 1));
  }

  /// Byte address within the channel.
  std::uint64_t local_of(std::uint64_t address) const {
    const std::uint64_t offset = address & ((std::uint64_t{1} << block_bits_) - 1);
    const std::uint64_t block = address >> block_bits_;
    return (divides_ ? block / channels_ : block >> channel_bits_) << block_bits_ | offset;
  }

  std::uint32_t block_bytes() const { return std::uint32_t{1} << block_bits_; }

 private:
  static unsigned log2_of(std::uint64_t n) {
    unsigned bits = 0;
    while (n >>= 1) ++bits;
    return bits;
  }

  std::uint32_t counted_channel_of(std::uint64_t block) const {
    const std::uint64_t turn = block / channels_;
    const auto in_turn = static_cast<std::uint32_t>(block - turn * channels_);
    return hashed_ ? (in_turn + hash_of_turn(turn)) % channels_ : in_turn;
  }

  /// 16 bits. Both products are needed: after one, turns that lie a Fibonacci number apart have nearly the same hash.
  static std::uint32_t hash_of_turn(std::uint64_t turn) {
    constexpr std::uint64_t golden = 0x9E3779B97F4A7C15;  // 2^64 / golden ratio, odd
    std::uint64_t hash = turn * golden;
    hash ^= hash >> 32;
    return static_cast<std::uint32_t>(hash * golden >> 48);
  }

  std::uint32_t channels_;
  unsigned channel_bits_, block_bits_;
  bool divides_, hashed_;
  PolynomialHash hash_;
};

}  // namespace t3vp::memory
