#include "protocol/cause.h"

#include <catch2/catch.hpp>

namespace t3vp::test::cause_test {
namespace {

TimeParts parts_of(std::initializer_list<std::pair<Part, Picoseconds>> times) {
  TimeParts parts{};
  for (const auto& [part, time] : times) of(parts, part) = time;
  return parts;
}

}  // namespace

TEST_CASE("a cause that nobody has begun stays unknown") {
  Cause cause;
  cause.extend(100, Part::dma);
  CHECK_FALSE(cause.is_known());
  CHECK(cause.time() == 0);
}

TEST_CASE("parts of a cause add up to its time, however it is extended") {
  const std::uint32_t window = Cause::open_window(0);
  Cause cause = Cause::begin();
  cause.extend(100, Part::launch);
  cause.extend(50, Part::sync);  // explained already
  using Shares = std::array<Cause::Share, 3>;
  cause.extend(200, Shares{{{Part::matrix, 3}, {Part::dma, 0}, {Part::tile_quantization, 1}}}, Part::sync);
  cause.extend(210, Shares{}, Part::nic);
  const TimeParts expected =
      parts_of({{Part::launch, 100}, {Part::matrix, 75}, {Part::tile_quantization, 25}, {Part::nic, 10}});
  CHECK(cause.within(window, 210) == expected);
  CHECK(sum_of(cause.within(window, 205)) == 205);
}

TEST_CASE("the latest of two causes is followed, and the first of two at one time") {
  const std::uint32_t window = Cause::open_window(0);
  Cause own = Cause::begin(), other = own;
  own.extend(10, Part::matrix);
  other.extend(20, Part::link_latency);
  Cause equal = Cause::begin();
  equal.extend(20, Part::nic);
  own.follow(other);
  own.follow(equal);
  CHECK(own.within(window, 20) == parts_of({{Part::link_latency, 20}}));
  CHECK(other.time() == 20);
}

TEST_CASE("a copy of a cause does not change with it") {
  const std::uint32_t window = Cause::open_window(0);
  Cause one = Cause::begin();
  one.extend(10, Part::dma);
  Cause two = one;
  two.extend(30, Part::nic);
  CHECK(one.within(window, 10) == parts_of({{Part::dma, 10}}));
  CHECK(two.within(window, 30) == parts_of({{Part::dma, 10}, {Part::nic, 20}}));
}

TEST_CASE("a window has the same parts, whether it is opened before the path comes to its begin or after") {
  Cause cause = Cause::begin();
  cause.extend(100, Part::launch);
  const std::uint32_t before = Cause::open_window(130), far = Cause::open_window(5000);
  cause.extend(120, Part::dram_latency);
  cause.extend(160, Part::matrix);
  cause.extend(170, Part::dram_bandwidth);
  cause.extend(200, Part::nic);
  const std::uint32_t after = Cause::open_window(130), latest = Cause::open_window(165);
  cause.extend(300, Part::sync);
  const TimeParts expected =
      parts_of({{Part::matrix, 30}, {Part::dram_bandwidth, 10}, {Part::nic, 30}, {Part::sync, 100}});
  CHECK(cause.within(before, 300) == expected);
  CHECK(cause.within(after, 300) == expected);
  CHECK(cause.within(latest, 300) == parts_of({{Part::dram_bandwidth, 5}, {Part::nic, 30}, {Part::sync, 100}}));
  CHECK(sum_of(cause.within(far, 300)) == 0);
}

TEST_CASE("closed windows are forgotten, and open ones stay") {
  const std::uint32_t kept = Cause::open_window(0);
  Cause cause = Cause::begin();
  for (Picoseconds time = 10; time <= 100'000; time += 10) {
    const std::uint32_t window = Cause::open_window(time);
    cause.extend(time + 5, Part::dma);
    Cause::close_window(window);
  }
  CHECK(cause.within(kept, 100'005) == parts_of({{Part::dma, 100'005}}));
  CHECK(cause.samples().size() <= 2);
}

TEST_CASE("a window that is opened late has exact parts however many steps the path has made since") {
  const std::array<Part, 3> parts{Part::dma, Part::nic, Part::matrix};
  Cause cause = Cause::begin();
  for (Picoseconds i = 1; i <= 50; ++i) cause.extend(i * 10, parts[i % 3]);
  const std::uint32_t window = Cause::open_window(25);
  // Steps 4 to 50, and the second half of step 3: numbers that 3 divides are the DMA engine's.
  CHECK(cause.within(window, 500) == parts_of({{Part::dma, 155}, {Part::nic, 160}, {Part::matrix, 160}}));
}

TEST_CASE("a cause that goes to another process has the same parts there, in windows that the sender did not know") {
  Cause::share_windows(3);
  const std::uint32_t known = Cause::open_window(15);
  const std::array<Part, 3> parts{Part::dma, Part::nic, Part::matrix};
  Cause cause = Cause::begin();
  for (Picoseconds i = 1; i <= 20; ++i) cause.extend(i * 10, parts[i % 3]);
  const Cause::Portable portable = cause.portable();
  Cause::change_window({Cause::WindowKey{7} << 32, 42});  // of process 7
  const std::uint32_t later = Cause::window_of(Cause::WindowKey{7} << 32);
  Cause arrived = Cause::from(portable);
  for (Cause* one : {&cause, &arrived}) one->extend(230, Part::sync);
  CHECK(arrived.time() == cause.time());
  CHECK(arrived.within(known, 230) == cause.within(known, 230));
  CHECK(arrived.within(later, 230) == cause.within(later, 230));
  CHECK(sum_of(arrived.within(later, 230)) == 188);
}

TEST_CASE("changes of windows are told once, with names that differ between processes") {
  Cause::share_windows(5);
  const std::uint32_t window = Cause::open_window(10);
  Cause::close_window(window);
  const std::vector<Cause::WindowChange> changes = Cause::take_window_changes();
  REQUIRE(changes.size() == 2);
  CHECK(changes[0].window == Cause::key_of(window));
  CHECK(changes[0].window >> 32 == 5);
  CHECK(changes[0].begin == Picoseconds{10});
  CHECK_FALSE(changes[1].begin.has_value());
  CHECK(Cause::take_window_changes().empty());
}

}  // namespace t3vp::test::cause_test
