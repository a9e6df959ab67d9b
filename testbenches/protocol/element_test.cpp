#include "protocol/element.h"

#include <catch2/catch.hpp>
#include <limits>
#include <random>

#include "exact_rounding.h"

namespace t3vp::test::element_test {

namespace {

constexpr int samples = 200'000;

const SmallFormat& format_of(ElementType type) {
  static const SmallFormat fp16(5, 10), bf16(8, 7);
  return type == ElementType::fp16 ? fp16 : bf16;
}

template <typename Bits>
Bits add(ElementType type, Bits target, Bits source) {
  unsigned char a[sizeof(Bits)], b[sizeof(Bits)];
  std::memcpy(a, &target, sizeof target);
  std::memcpy(b, &source, sizeof source);
  add_elements(type, a, b, 1);
  std::memcpy(&target, a, sizeof target);
  return target;
}

std::uint16_t add16(ElementType type, unsigned a, unsigned b) {
  return add(type, static_cast<std::uint16_t>(a), static_cast<std::uint16_t>(b));
}

void check_sum(ElementType type, unsigned a, unsigned b) {
  const SmallFormat& format = format_of(type);
  const auto bits_a = static_cast<std::uint16_t>(a), bits_b = static_cast<std::uint16_t>(b);
  if (!format.is_finite(bits_a) || !format.is_finite(bits_b)) return;
  INFO(std::hex << a << " + " << b);
  REQUIRE(add16(type, a, b) == format.round(ExactSum(format.decode(bits_a), format.decode(bits_b))));
}

/// Zeros, subnormals, powers of two and their neighbours, the largest numbers, both signs.
std::vector<unsigned> corners(const SmallFormat& format) {
  std::vector<unsigned> bits;
  for (unsigned magnitude = 0; magnitude < format.infinity(); magnitude += magnitude < 4 ? 1 : magnitude / 7 + 1)
    bits.push_back(magnitude);
  for (unsigned i = 1; i <= 3; ++i) bits.push_back(format.infinity() - i);
  const std::size_t positive = bits.size();
  for (std::size_t i = 0; i < positive; ++i) bits.push_back(bits[i] | format.sign());
  return bits;
}

float from_bits(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

std::uint32_t to_bits(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

std::uint16_t narrow16(ElementType type, float value) {
  std::uint16_t bits = 0;
  unsigned char bytes[2];
  narrow_elements(type, &value, bytes, 1);
  std::memcpy(&bits, bytes, sizeof bits);
  return bits;
}

}  // namespace

TEST_CASE("fp16 and bf16 sums are the exact sums, rounded once to nearest even") {
  for (const ElementType type : {ElementType::fp16, ElementType::bf16}) {
    std::mt19937 random(1);
    for (int i = 0; i < samples; ++i) check_sum(type, random() & 0xFFFF, random() & 0xFFFF);
    // Operands of like magnitude, where cancellation and ties are frequent.
    const unsigned exponent = type == ElementType::fp16 ? 0x7C00 : 0x7F80;
    for (int i = 0; i < samples; ++i) {
      const unsigned a = random() & 0xFFFF;
      check_sum(type, a, ((a & exponent) | (random() & ~exponent & 0xFFFF)) ^ (random() & 0x0C00 & exponent));
    }
  }
}

TEST_CASE("fp16 and bf16 sums are right at every corner") {
  for (const ElementType type : {ElementType::fp16, ElementType::bf16})
    for (const unsigned a : corners(format_of(type)))
      for (const unsigned b : corners(format_of(type))) check_sum(type, a, b);
}

TEST_CASE("fp32 sums are the exact sums, rounded once to nearest even") {
  std::mt19937 random(2);
  for (int i = 0; i < samples; ++i) {
    const float a = from_bits(static_cast<std::uint32_t>(random()));
    const auto like_a = to_bits(a) ^ static_cast<std::uint32_t>(random() & 0x81FFFFFF);
    const float b = from_bits(i % 2 == 0 ? static_cast<std::uint32_t>(random()) : like_a);
    if (!std::isfinite(a) || !std::isfinite(b)) continue;
    INFO(a << " + " << b);
    REQUIRE(add(ElementType::fp32, to_bits(a), to_bits(b)) == to_bits(round_to_float(ExactSum(a, b))));
  }
}

TEST_CASE("hand-computed sums") {
  using E = ElementType;
  REQUIRE(add16(E::fp16, 0x3C00, 0x3C00) == 0x4000);  // 1 + 1
  REQUIRE(add16(E::fp16, 0x6800, 0x3C00) == 0x6800);  // 2048 + 1: a tie, 2048 is even
  REQUIRE(add16(E::fp16, 0x6801, 0x3C00) == 0x6802);  // 2050 + 1: a tie, 2052 is even
  REQUIRE(add16(E::fp16, 0x0001, 0x0001) == 0x0002);  // subnormals
  REQUIRE(add16(E::fp16, 0x03FF, 0x0001) == 0x0400);  // the largest subnormal and the smallest: the first normal
  REQUIRE(add16(E::fp16, 0x0400, 0x8001) == 0x03FF);  // and back
  REQUIRE(add16(E::fp16, 0x7BFF, 0x4B80) == 0x7BFF);  // 65504 + 15: below the tie
  REQUIRE(add16(E::fp16, 0x7BFF, 0x4C00) == 0x7C00);  // 65504 + 16: a tie, infinity is even
  REQUIRE(add16(E::bf16, 0x4380, 0x3F80) == 0x4380);  // 256 + 1: a tie, 256 is even
  REQUIRE(add16(E::bf16, 0x4381, 0x3F80) == 0x4382);  // 258 + 1: a tie, 260 is even
  REQUIRE(add16(E::bf16, 0x0001, 0x0001) == 0x0002);  // subnormals
  REQUIRE(add16(E::bf16, 0x7F7F, 0x7F7F) == 0x7F80);  // overflow
  REQUIRE(add16(E::fp16, 0x8000, 0x8000) == 0x8000);  // -0 + -0
  REQUIRE(add16(E::fp16, 0x3C00, 0xBC00) == 0x0000);  // 1 - 1 is +0
}

TEST_CASE("infinities and NaN follow IEEE 754") {
  for (const ElementType type : {ElementType::fp16, ElementType::bf16}) {
    const SmallFormat& format = format_of(type);
    const unsigned infinity = format.infinity(), negative = infinity | format.sign(), nan = infinity | 1u;
    for (const unsigned finite : corners(format)) {
      REQUIRE(add16(type, finite, infinity) == infinity);
      REQUIRE(add16(type, negative, finite) == negative);
      REQUIRE(format.is_nan(add16(type, nan, finite)));
    }
    REQUIRE(add16(type, infinity, infinity) == infinity);
    REQUIRE(format.is_nan(add16(type, infinity, negative)));
  }
}

TEST_CASE("widening is exact and narrowing undoes it, for all encodings") {
  for (const ElementType type : {ElementType::fp16, ElementType::bf16}) {
    const SmallFormat& format = format_of(type);
    for (unsigned i = 0; i <= 0xFFFF; ++i) {
      const auto bits = static_cast<std::uint16_t>(i);
      unsigned char bytes[2];
      std::memcpy(bytes, &bits, sizeof bits);
      float wide = 0;
      widen_elements(type, bytes, &wide, 1);
      if (format.is_nan(bits)) {
        REQUIRE(std::isnan(wide));
        REQUIRE(format.is_nan(narrow16(type, wide)));
        continue;
      }
      REQUIRE(narrow16(type, wide) == bits);
      REQUIRE(std::signbit(wide) == ((bits & format.sign()) != 0));
      if (format.is_finite(bits))
        REQUIRE(double{wide} == format.decode(bits));
      else
        REQUIRE(std::isinf(wide));
    }
  }
}

TEST_CASE("narrowing rounds once to nearest even") {
  for (const ElementType type : {ElementType::fp16, ElementType::bf16}) {
    const SmallFormat& format = format_of(type);
    std::mt19937 random(3);
    for (int i = 0; i < samples; ++i) {
      auto bits = static_cast<std::uint32_t>(random());
      if (i % 3 == 1) bits = (bits & 0x807FFFFF) | (127 - 26 + bits % 44) << 23;  // magnitudes of fp16's range
      if (i % 3 == 2) bits = (bits & 0xFFFF0000) | 0x8000;                        // exact ties in bf16
      const float value = from_bits(bits);
      if (!std::isfinite(value)) continue;
      INFO(value);
      REQUIRE(narrow16(type, value) == format.round(ExactSum(value, 0)));
    }
  }
}

TEST_CASE("element by element, at any alignment, and nothing beside") {
  for (const ElementType type : {ElementType::fp16, ElementType::bf16, ElementType::fp32}) {
    constexpr std::size_t count = 5, offset = 1;
    const std::size_t bytes = count * bytes_of(type);
    const float a[count] = {1, 2, 3, 4, 5}, b[count] = {10, 20, 30, 40, 50};
    std::vector<unsigned char> target(bytes + 2 * offset, 0xA5), source(bytes + 2 * offset, 0x5A);
    narrow_elements(type, a, target.data() + offset, count);
    narrow_elements(type, b, source.data() + offset, count);
    add_elements(type, target.data() + offset, source.data() + offset, count);
    float sums[count];
    widen_elements(type, target.data() + offset, sums, count);
    for (std::size_t i = 0; i < count; ++i) REQUIRE(sums[i] == a[i] + b[i]);
    REQUIRE(target.front() == 0xA5);
    REQUIRE(target.back() == 0xA5);
    add_elements(type, target.data() + offset, source.data() + offset, 0);
    REQUIRE(target.front() == 0xA5);
  }
}

}  // namespace t3vp::test::element_test
