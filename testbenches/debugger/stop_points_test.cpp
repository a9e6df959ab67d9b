#include <catch2/catch.hpp>
#include <random>

#include "debugger/stop_points.h"

namespace t3vp::test::stop_points_test {

using namespace debug;
using Kind = StopPointKind;

TEST_CASE("A breakpoint of one kind is not removed by another") {
  StopPoints points;
  CHECK(points.add({Kind::software_breakpoint, 0x100, 2}));
  CHECK(points.add({Kind::hardware_breakpoint, 0x100, 2}));
  CHECK(points.breakpoint(0x100) != nullptr);
  CHECK(points.breakpoint(0x102) == nullptr);
  points.remove({Kind::software_breakpoint, 0x100, 2});
  REQUIRE(points.breakpoint(0x100) != nullptr);
  CHECK(points.breakpoint(0x100)->kind == Kind::hardware_breakpoint);
  points.remove({Kind::hardware_breakpoint, 0x100, 2});
  CHECK(points.breakpoint(0x100) == nullptr);
}

TEST_CASE("A stop point that is set twice is there once") {
  StopPoints points;
  for (int i = 0; i < 2; ++i) CHECK(points.add({Kind::write_watch, 0x100, 8}));
  points.remove({Kind::write_watch, 0x100, 8});
  CHECK_FALSE(points.watches());
}

TEST_CASE("There are no more stop points than a host can look through") {
  StopPoints points;
  for (std::uint64_t i = 0; i < StopPoints::most; ++i) CHECK(points.add({Kind::write_watch, 8 * i, 8}));
  CHECK_FALSE(points.add({Kind::software_breakpoint, 0, 4}));
}

TEST_CASE("A watch sees the accesses of its kind that touch its bytes") {
  std::mt19937_64 random(15);
  for (int i = 0; i < 20000; ++i) {
    const auto small = [&](std::uint64_t most) { return random() % most; };
    const std::uint64_t corner = random() % 2 == 0 ? 0 : ~std::uint64_t{0} - 8;  // also around the end of addresses
    const StopPoint point{static_cast<Kind>(2 + small(3)), corner + small(16), 1 + small(8)};
    const MemoryAccess access{corner + small(16), 1u << small(4), small(2) == 0, small(2) == 0};
    StopPoints points;
    points.add(point);
    bool touches = false;
    for (std::uint64_t a = 0; a < access.bytes; ++a)
      for (std::uint64_t b = 0; b < point.bytes; ++b) touches = touches || access.address + a == point.address + b;
    const bool is_of_kind = point.kind == Kind::write_watch  ? access.writes
                            : point.kind == Kind::read_watch ? access.reads
                                                             : access.reads || access.writes;
    REQUIRE((points.watch(access) != nullptr) == (touches && is_of_kind));
  }
}

}  // namespace t3vp::test::stop_points_test
