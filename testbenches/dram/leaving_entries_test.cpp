// Entries that leave a queue ahead of time, against a list of their cycles.
#include <catch2/catch.hpp>

#include <random>
#include <set>

#include "dram/leaving_entries.h"

namespace t3vp::test::leaving_entries_test {

using namespace t3vp::dram;

TEST_CASE("Entries leave at an even rate, and the last one with the span") {
  LeavingEntries entries;
  entries.add(4, 8);
  for (Cycle now = 0; now <= 8; ++now) {
    entries.advance(now);
    CHECK(entries.count() == 4 - now / 2);
    CHECK(entries.next() == (now == 8 ? never_cycle : now / 2 * 2 + 2));
  }
}

TEST_CASE("Entries leave one by one as a list of their cycles says") {
  std::mt19937 random(1);
  const auto below = [&random](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  LeavingEntries entries;
  std::multiset<Cycle> leaves;
  Cycle now = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::uint32_t count = below(9), span = count + below(200);
    entries.add(count, span);
    for (std::uint32_t n = 1; n <= count; ++n) leaves.insert(now + (n * span + count - 1) / count);
    now += below(8) == 0 ? below(2000) : below(6);
    entries.advance(now);
    leaves.erase(leaves.begin(), leaves.upper_bound(now));
    REQUIRE(entries.count() == leaves.size());
    REQUIRE(entries.next() == (leaves.empty() ? never_cycle : *leaves.begin()));
  }
}

TEST_CASE("Entries of a very long span leave within the ring's reach, and none is lost") {
  LeavingEntries entries;
  entries.advance(100);
  entries.add(8, 5000);
  CHECK(entries.count() == 8);
  entries.advance(100 + 511);
  CHECK(entries.count() == 0);
  CHECK(entries.next() == never_cycle);
}

}  // namespace t3vp::test::leaving_entries_test
