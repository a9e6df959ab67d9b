// Clocks against a plain table.
#include <catch2/catch.hpp>

#include <array>
#include <random>

#include "races/clock.h"

namespace t3vp::test::clock_test {

using namespace races;

namespace {

constexpr Agent agents = 24;
using Table = std::array<Epoch, agents>;

struct Both {
  ClockPointer clock;
  Table table{};
};

Both joined(const Both& one, const Both& other) {
  Both both{Clock::join(one.clock, other.clock), one.table};
  for (Agent i = 0; i < agents; ++i) both.table[i] = std::max(both.table[i], other.table[i]);
  return both;
}

Both with(const Both& one, Agent first, Agent last, Epoch epoch) {
  Both both{Clock::with(one.clock, {first, last, epoch}), one.table};
  for (Agent i = first; i <= last; ++i) both.table[i] = std::max(both.table[i], epoch);
  return both;
}

}  // namespace

TEST_CASE("a clock has of each agent the latest of what was joined") {
  std::mt19937 random(1);
  const auto draw = [&](std::uint32_t limit) { return static_cast<std::uint32_t>(random() % limit); };
  for (int round = 0; round < 300; ++round) {
    std::vector<Both> all(4);
    for (int step = 0; step < 40; ++step) {
      const std::size_t into = draw(4);
      const Agent first = draw(agents), last = std::min(agents - 1, first + draw(6));
      const Epoch epoch = draw(5) == 0 ? ended : 1 + draw(9);
      all[into] = draw(2) == 0 ? joined(all[into], all[draw(4)]) : with(all[into], first, last, epoch);
      for (Agent i = 0; i < agents; ++i) REQUIRE(epoch_of(all[into].clock, i) == all[into].table[i]);
    }
  }
}

TEST_CASE("agents that have been seen equally far are one span") {
  ClockPointer clock;
  for (Agent i = 0; i < 1000; ++i) clock = Clock::with(clock, {i, i, ended});
  CHECK(clock->spans() == 1);
  CHECK(clock->of(1000) == 0);
  CHECK(Clock::join(clock, Clock::with(nullptr, {500, 600, 3})) == clock);
  CHECK(Clock::join(Clock::with(nullptr, {500, 600, 3}), clock) == clock);
}

}  // namespace t3vp::test::clock_test
