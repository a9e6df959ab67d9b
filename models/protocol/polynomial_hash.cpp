#include "protocol/polynomial_hash.h"

namespace t3vp {
namespace {

/// An irreducible polynomial of each degree, bit i the coefficient of x^i.
constexpr std::uint32_t irreducible[PolynomialHash::max_bits + 1] = {
    0x1, 0x3, 0x7, 0xB, 0x13, 0x25, 0x43, 0x83, 0x11B, 0x211, 0x409, 0x805, 0x1053, 0x201B, 0x4443, 0x8003, 0x1100B};

/// The polynomial with its coefficients in reverse. It is irreducible when the polynomial is.
std::uint32_t reversed(std::uint32_t polynomial, unsigned degree) {
  std::uint32_t result = 0;
  for (unsigned bit = 0; bit <= degree; ++bit) result |= (polynomial >> bit & 1) << (degree - bit);
  return result;
}

}  // namespace

PolynomialHash::PolynomialHash(unsigned bits, Of of) : bits_(bits), mask_((std::uint64_t{1} << bits) - 1) {
  if (bits == 0) return;
  const std::uint32_t divisor = of == Of::polynomial ? irreducible[bits] : reversed(irreducible[bits], bits);
  std::uint32_t power = static_cast<std::uint32_t>(divisor & mask_);  // x^bits
  for (auto& table : remainder_)
    for (std::size_t bit = 0; bit < 8; ++bit) {
      for (std::size_t b = 0; b < table.size(); ++b)
        if ((b >> bit & 1) != 0) table[b] = static_cast<std::uint16_t>(table[b] ^ power);
      power <<= 1;
      if ((power >> bits & 1) != 0) power ^= divisor;
    }
}

}  // namespace t3vp
