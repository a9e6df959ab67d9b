#include "protocol/area.h"

#include <catch2/catch.hpp>
#include <random>
#include <set>

namespace t3vp::test::area_test {

namespace {

std::set<std::uint64_t> bytes_of(const Area& area) {
  std::set<std::uint64_t> bytes;
  for (std::uint32_t row = 0; row < area.shape.rows; ++row)
    for (std::uint32_t column = 0; column < area.shape.row_bytes; ++column)
      bytes.insert(area.begin + row * area.shape.stride + column);
  return bytes;
}

bool share_a_byte(const Area& one, const Area& other) {
  const std::set<std::uint64_t> mine = bytes_of(one);
  for (const std::uint64_t byte : bytes_of(other))
    if (mine.count(byte) != 0) return true;
  return false;
}

}  // namespace

TEST_CASE("areas whose rows are equally far apart overlap when they share a byte") {
  std::mt19937 random(41);
  unsigned overlapping = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t stride = 1 + random() % 12;
    const auto area = [&] {
      return Area{
          100 + random() % 60,
          {static_cast<std::uint32_t>(1 + random() % 5), static_cast<std::uint32_t>(1 + random() % stride), stride}};
    };
    const Area one = area(), other = area();
    const bool expected = share_a_byte(one, other);
    overlapping += expected ? 1 : 0;
    if (one.overlaps(other) != expected)
      FAIL(one.begin << ": " << one.shape.rows << " x " << one.shape.row_bytes << ", " << other.begin << ": "
                     << other.shape.rows << " x " << other.shape.row_bytes << ", stride " << stride);
  }
  REQUIRE(overlapping > 2000);
  REQUIRE(overlapping < 18000);
}

TEST_CASE("of areas with different rows nothing that overlaps is missed") {
  std::mt19937 random(42);
  for (int i = 0; i < 20000; ++i) {
    const auto area = [&] {
      const std::uint64_t stride = random() % 12;
      return Area{100 + random() % 60,
                  {static_cast<std::uint32_t>(1 + random() % 5), static_cast<std::uint32_t>(1 + random() % 9), stride}};
    };
    const Area one = area(), other = area();
    if (share_a_byte(one, other)) REQUIRE(one.overlaps(other));
    if (one.begin >= other.end() || other.begin >= one.end()) REQUIRE_FALSE(one.overlaps(other));
  }
  REQUIRE_FALSE(Area{100, {0, 8, 8}}.overlaps({100, {1, 8, 8}}));
}

}  // namespace t3vp::test::area_test
