// Hash of an address to a channel or a cache set: the number, read as a polynomial over GF(2), modulo an irreducible
// one (Rau, Pseudo-Randomly Interleaved Memory, ISCA 1991), as Accel-Sim's IPOLY indexing does. No stride falls into
// few places, and with the bits above it the hash determines the number.
#pragma once

#include <array>
#include <cstdint>

namespace t3vp {

class PolynomialHash {
 public:
  static constexpr unsigned max_bits = 16;

  /// A polynomial hash and a reciprocal one of as many bits are nearly independent, from 3 bits on.
  enum class Of : bool { polynomial, reciprocal };

  /// Hashes to numbers of `bits` bits, at most max_bits, numbers of up to 40 bits above those.
  explicit PolynomialHash(unsigned bits, Of of = Of::polynomial);

  std::uint32_t operator()(std::uint64_t number) const {
    std::uint64_t upper = number >> bits_;
    std::uint32_t hash = static_cast<std::uint32_t>(number & mask_);
    for (const auto& table : remainder_) {
      if (upper == 0) break;
      hash ^= table[upper & 0xFF];
      upper >>= 8;
    }
    return hash;
  }

 private:
  unsigned bits_;
  std::uint64_t mask_;
  std::array<std::array<std::uint16_t, 256>, 5> remainder_{};  ///< [i][b]: of b x^(bits + 8 i)
};

}  // namespace t3vp
