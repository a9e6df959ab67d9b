#include "protocol/recent_values.h"

#include <catch2/catch.hpp>

namespace t3vp::test::recent_values_test {
namespace {

void advance_to(Picoseconds time) { sc_core::sc_start(to_sc_time(time - now())); }

/// A counter that keeps its recent values.
struct Counter {
  int value = 0;
  RecentValues<int> recent;
  void count() {
    recent.keep(value);
    ++value;
  }
};

}  // namespace

TEST_CASE("a counter is known as it was before the changes of this time") {
  Counter counter;
  counter.count();
  advance_to(10);
  CHECK(counter.recent.before(10, counter.value) == 1);
  counter.count();
  counter.count();
  CHECK(counter.recent.before(10, counter.value) == 1);
  CHECK(counter.recent.before(never, counter.value) == 3);
  advance_to(11);
  CHECK(counter.recent.before(11, counter.value) == 3);
}

TEST_CASE("in a run of several processes a counter is known back to the begin of the window") {
  Counter counter;
  advance_to(10);
  window_begin() = 10;
  for (const Picoseconds time : {12u, 15u, 15u, 20u}) {
    advance_to(time);
    counter.count();
  }
  advance_to(30);
  const std::vector<std::pair<Picoseconds, int>> expected{{10, 0}, {12, 0}, {13, 1}, {15, 1},
                                                          {16, 3}, {20, 3}, {21, 4}};
  for (const auto& [time, value] : expected) CHECK(counter.recent.before(time, counter.value) == value);
}

}  // namespace t3vp::test::recent_values_test
