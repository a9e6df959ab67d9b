// Fields of instruction words and the immediates that are put together of them (unprivileged ISA, 2.2 and 2.3).
#pragma once

#include <cstdint>

namespace t3vp::riscv {

constexpr std::uint32_t bits(std::uint32_t word, unsigned high, unsigned low) {
  return word << (31 - high) >> (31 - high + low);
}

/// The lowest bits of a word as a signed number.
constexpr std::int32_t sign_extended(std::uint32_t value, unsigned width) {
  const std::uint32_t sign = 1u << (width - 1);
  return static_cast<std::int32_t>((value ^ sign) - sign);
}

constexpr std::uint8_t register_at(std::uint32_t word, unsigned low) {
  return static_cast<std::uint8_t>(bits(word, low + 4, low));
}

enum class Format { r, i, s, b, u, j, shift, csr, none };

constexpr std::int32_t immediate_of(std::uint32_t word, Format format) {
  switch (format) {
    case Format::i:
      return sign_extended(bits(word, 31, 20), 12);
    case Format::s:
      return sign_extended(bits(word, 31, 25) << 5 | bits(word, 11, 7), 12);
    case Format::b:
      return sign_extended(
          bits(word, 31, 31) << 12 | bits(word, 7, 7) << 11 | bits(word, 30, 25) << 5 | bits(word, 11, 8) << 1, 13);
    case Format::u:
      return static_cast<std::int32_t>(word & 0xFFFFF000);
    case Format::j:
      return sign_extended(
          bits(word, 31, 31) << 20 | bits(word, 19, 12) << 12 | bits(word, 20, 20) << 11 | bits(word, 30, 21) << 1, 21);
    case Format::shift:
      return static_cast<std::int32_t>(bits(word, 25, 20));
    case Format::csr:
      return static_cast<std::int32_t>(bits(word, 31, 20));
    case Format::r:
    case Format::none:
      break;
  }
  return 0;
}

constexpr bool has_destination(Format format) {
  return format != Format::s && format != Format::b && format != Format::none;
}

}  // namespace t3vp::riscv
