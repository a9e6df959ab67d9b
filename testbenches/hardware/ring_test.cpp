#include "hardware/ring.h"

#include <algorithm>
#include <catch2/catch.hpp>

namespace t3vp::test::ring_test {

TEST_CASE("every route of a ring leads to its GPU on the shorter way, backwards when both are as long") {
  for (std::uint32_t gpus = 1; gpus <= 9; ++gpus) {
    const std::vector<Placement> placements = ring(gpus);
    REQUIRE(placements.size() == gpus);
    for (std::uint32_t from = 0; from < gpus; ++from)
      for (std::uint32_t to = 0; to < gpus; ++to) {
        if (from == to) continue;
        INFO(gpus << " GPUs, " << from << " to " << to);
        std::uint32_t at = from, hops = 0;
        const std::uint32_t first = placements[from].neighbours.at(placements[from].route[to]);
        while (at != to && hops <= gpus) {
          at = placements[at].neighbours.at(placements[at].route[to]);
          ++hops;
        }
        const std::uint32_t backward = (from + gpus - to) % gpus;
        CHECK(hops == std::min(backward, gpus - backward));
        if (2 * backward == gpus) CHECK(first == (from + gpus - 1) % gpus);
      }
  }
}

TEST_CASE("as many links lead to a GPU of a ring as its placement says") {
  for (std::uint32_t gpus = 1; gpus <= 5; ++gpus) {
    const std::vector<Placement> placements = ring(gpus);
    for (const Placement& placement : placements) {
      std::size_t links = 0;
      for (const Placement& other : placements)
        for (const std::uint32_t neighbour : other.neighbours) links += neighbour == placement.gpu ? 1 : 0;
      CHECK(links == placement.receivers);
    }
  }
}

}  // namespace t3vp::test::ring_test
