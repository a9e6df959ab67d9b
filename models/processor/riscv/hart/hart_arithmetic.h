// The arithmetic of the integer instructions: registers in, register out.
#pragma once

#include <cstdint>
#include <limits>

namespace t3vp::riscv {

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

using Operation = std::uint64_t (*)(std::uint64_t a, std::uint64_t b);

constexpr std::int64_t as_signed(std::uint64_t a) { return static_cast<std::int64_t>(a); }
constexpr std::uint32_t low_word(std::uint64_t a) { return static_cast<std::uint32_t>(a); }
/// A 32-bit result in a register.
constexpr std::uint64_t from_word(std::uint32_t a) {
  return static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(a)});
}
constexpr std::uint64_t upper_half(UInt128 product) { return static_cast<std::uint64_t>(product >> 64); }

constexpr std::uint64_t add(std::uint64_t a, std::uint64_t b) { return a + b; }
constexpr std::uint64_t sub(std::uint64_t a, std::uint64_t b) { return a - b; }
constexpr std::uint64_t sll(std::uint64_t a, std::uint64_t b) { return a << (b & 63); }
constexpr std::uint64_t srl(std::uint64_t a, std::uint64_t b) { return a >> (b & 63); }
constexpr std::uint64_t sra(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::uint64_t>(as_signed(a) >> (b & 63));
}
constexpr std::uint64_t slt(std::uint64_t a, std::uint64_t b) { return as_signed(a) < as_signed(b); }
constexpr std::uint64_t sltu(std::uint64_t a, std::uint64_t b) { return a < b; }
constexpr std::uint64_t xor_(std::uint64_t a, std::uint64_t b) { return a ^ b; }
constexpr std::uint64_t or_(std::uint64_t a, std::uint64_t b) { return a | b; }
constexpr std::uint64_t and_(std::uint64_t a, std::uint64_t b) { return a & b; }

constexpr std::uint64_t addw(std::uint64_t a, std::uint64_t b) { return from_word(low_word(a + b)); }
constexpr std::uint64_t subw(std::uint64_t a, std::uint64_t b) { return from_word(low_word(a - b)); }
constexpr std::uint64_t sllw(std::uint64_t a, std::uint64_t b) { return from_word(low_word(a) << (b & 31)); }
constexpr std::uint64_t srlw(std::uint64_t a, std::uint64_t b) { return from_word(low_word(a) >> (b & 31)); }
constexpr std::uint64_t sraw(std::uint64_t a, std::uint64_t b) {
  return from_word(static_cast<std::uint32_t>(static_cast<std::int32_t>(low_word(a)) >> (b & 31)));
}

constexpr std::uint64_t mul(std::uint64_t a, std::uint64_t b) { return a * b; }
constexpr std::uint64_t mulh(std::uint64_t a, std::uint64_t b) {
  return upper_half(static_cast<UInt128>(Int128{as_signed(a)} * Int128{as_signed(b)}));
}
constexpr std::uint64_t mulhsu(std::uint64_t a, std::uint64_t b) {
  return upper_half(static_cast<UInt128>(Int128{as_signed(a)}) * b);
}
constexpr std::uint64_t mulhu(std::uint64_t a, std::uint64_t b) { return upper_half(UInt128{a} * b); }
constexpr std::uint64_t mulw(std::uint64_t a, std::uint64_t b) { return from_word(low_word(a * b)); }

/// Covers the division by zero and the overflow of the smallest number by -1: unprivileged ISA, table "Semantics for
/// division by zero and division overflow".
template <typename Signed>
constexpr Signed quotient(Signed a, Signed b) {
  if (b == 0) return -1;
  return a == std::numeric_limits<Signed>::min() && b == -1 ? a : static_cast<Signed>(a / b);
}
template <typename Signed>
constexpr Signed remainder(Signed a, Signed b) {
  if (b == 0) return a;
  return b == -1 ? Signed{0} : static_cast<Signed>(a % b);
}

constexpr std::uint64_t div(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::uint64_t>(quotient(as_signed(a), as_signed(b)));
}
constexpr std::uint64_t divu(std::uint64_t a, std::uint64_t b) { return b == 0 ? ~std::uint64_t{0} : a / b; }
constexpr std::uint64_t rem(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::uint64_t>(remainder(as_signed(a), as_signed(b)));
}
constexpr std::uint64_t remu(std::uint64_t a, std::uint64_t b) { return b == 0 ? a : a % b; }
constexpr std::uint64_t divw(std::uint64_t a, std::uint64_t b) {
  const auto q = quotient(static_cast<std::int32_t>(low_word(a)), static_cast<std::int32_t>(low_word(b)));
  return from_word(static_cast<std::uint32_t>(q));
}
constexpr std::uint64_t divuw(std::uint64_t a, std::uint64_t b) {
  return from_word(low_word(b) == 0 ? ~std::uint32_t{0} : low_word(a) / low_word(b));
}
constexpr std::uint64_t remw(std::uint64_t a, std::uint64_t b) {
  const auto r = remainder(static_cast<std::int32_t>(low_word(a)), static_cast<std::int32_t>(low_word(b)));
  return from_word(static_cast<std::uint32_t>(r));
}
constexpr std::uint64_t remuw(std::uint64_t a, std::uint64_t b) {
  return from_word(low_word(b) == 0 ? low_word(a) : low_word(a) % low_word(b));
}

// The conditions of branches and atomic operations.
constexpr std::uint64_t equal(std::uint64_t a, std::uint64_t b) { return a == b; }
constexpr std::uint64_t unequal(std::uint64_t a, std::uint64_t b) { return a != b; }
constexpr std::uint64_t at_least(std::uint64_t a, std::uint64_t b) { return as_signed(a) >= as_signed(b); }
constexpr std::uint64_t at_least_unsigned(std::uint64_t a, std::uint64_t b) { return a >= b; }
constexpr std::uint64_t second(std::uint64_t, std::uint64_t b) { return b; }
constexpr std::uint64_t smaller(std::uint64_t a, std::uint64_t b) { return as_signed(a) < as_signed(b) ? a : b; }
constexpr std::uint64_t larger(std::uint64_t a, std::uint64_t b) { return as_signed(a) > as_signed(b) ? a : b; }
constexpr std::uint64_t smaller_unsigned(std::uint64_t a, std::uint64_t b) { return a < b ? a : b; }
constexpr std::uint64_t larger_unsigned(std::uint64_t a, std::uint64_t b) { return a > b ? a : b; }

}  // namespace t3vp::riscv
