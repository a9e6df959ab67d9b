#include "memory/arrivals.h"

#include <array>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

namespace t3vp::test::arrivals_test {
using memory::Arrivals;
using memory::Origin;

namespace {
template <typename Value>
struct Item {
  Origin origin;
  Value value;
};
}  // namespace

TEST_CASE("arrivals of one time go by GPU and channel, then in the order of sending") {
  Arrivals<Item<int>> arrivals;
  REQUIRE(arrivals.empty());
  arrivals.push(10, {{2, 0}, 20});
  arrivals.push(10, {{0, 2}, 11});
  arrivals.push(10, {{0, 1}, 10});
  arrivals.push(10, {{2, 0}, 21});
  arrivals.push(10, {{0, 0}, 0});
  arrivals.push(5, {{9, 9}, 99});
  std::vector<int> order;
  while (!arrivals.empty()) {
    REQUIRE(arrivals.next_time() == (order.empty() ? 5 : 10));
    order.push_back(arrivals.pop().value);
  }
  REQUIRE(order == std::vector<int>{99, 0, 10, 11, 20, 21});
}

TEST_CASE("the order of arrivals does not depend on the order in which they were announced") {
  std::mt19937 random(3);
  struct Announced {
    Picoseconds time;
    Origin origin;
    int item;
  };
  std::vector<Announced> all;
  for (int i = 0; i < 400; ++i)
    all.push_back({random() % 20, {static_cast<std::uint16_t>(i % 8), static_cast<std::uint8_t>(i / 8)}, i});
  std::vector<int> expected;
  for (int round = 0; round < 20; ++round) {
    Arrivals<Item<int>> arrivals;
    for (const Announced& one : all) arrivals.push(one.time, {one.origin, one.item});
    std::vector<int> order;
    while (!arrivals.empty()) order.push_back(arrivals.pop().value);
    if (expected.empty()) expected = order;
    REQUIRE(order == expected);
    std::shuffle(all.begin(), all.end(), random);
  }
}

/// Whenever some GPUs always arrive together, each is before each other one equally often, but for one time.
TEST_CASE("no GPU is favoured by more than one packet") {
  for (const std::vector<std::uint16_t>& gpus :
       std::vector<std::vector<std::uint16_t>>{{0, 1}, {1, 5}, {0, 1, 2, 3}, {2, 3, 7}, {0, 3, 4, 6, 7}}) {
    Arrivals<Item<std::uint16_t>> arrivals;
    std::array<int, 8> first{};
    for (Picoseconds time = 1; time <= 100; ++time) {
      for (const std::uint16_t gpu : gpus) arrivals.push(time, {{gpu}, gpu});
      ++first[arrivals.pop().value];
      for (std::size_t i = 1; i < gpus.size(); ++i) arrivals.pop();
      int least = 1000, most = 0;
      for (const std::uint16_t gpu : gpus) {
        least = std::min(least, first[gpu]);
        most = std::max(most, first[gpu]);
      }
      REQUIRE(most - least <= 1);
    }
  }
}

}  // namespace t3vp::test::arrivals_test
