#include "hardware/topology.h"

#include <algorithm>
#include <catch2/catch.hpp>

namespace t3vp::test::topology_test {

namespace {

using Dimensions = std::vector<std::uint32_t>;

Topology of_kind(Topology::Kind kind) {
  Topology topology;
  topology.kind = kind;
  return topology;
}
Topology torus(const Dimensions& dimensions) {
  Topology topology;
  topology.dimensions = dimensions;
  return topology;
}

std::uint32_t product(const Dimensions& dimensions) {
  std::uint32_t result = 1;
  for (const std::uint32_t size : dimensions) result *= size;
  return result;
}

/// The GPUs on a packet's way, without the first one.
std::vector<std::uint32_t> way(const std::vector<Placement>& placements, std::uint32_t from, std::uint32_t to) {
  std::vector<std::uint32_t> gpus;
  while (from != to && gpus.size() <= placements.size()) {
    from = placements[from].neighbours.at(placements[from].route[to].port);
    gpus.push_back(from);
  }
  return gpus;
}

/// How far two GPUs are apart in a torus.
std::uint32_t distance(const Dimensions& dimensions, std::uint32_t from, std::uint32_t to) {
  std::uint32_t hops = 0;
  for (const std::uint32_t size : dimensions) {
    const std::uint32_t backward = (from % size + size - to % size) % size;
    hops += std::min(backward, size - backward);
    from /= size;
    to /= size;
  }
  return hops;
}

const std::vector<Dimensions> tori = {{2}, {3}, {4}, {9}, {2, 2}, {4, 2}, {3, 5}, {2, 3, 4}};

}  // namespace

TEST_CASE("every route of a torus leads to its GPU on the shortest way") {
  for (const Dimensions& dimensions : tori) {
    const std::vector<Placement> placements = place(torus(dimensions), product(dimensions));
    REQUIRE(placements.size() == product(dimensions));
    for (std::uint32_t from = 0; from < placements.size(); ++from)
      for (std::uint32_t to = 0; to < placements.size(); ++to) {
        if (from == to) continue;
        INFO(Catch::StringMaker<Dimensions>::convert(dimensions) << ", " << from << " to " << to);
        CHECK(way(placements, from, to).size() == distance(dimensions, from, to));
        CHECK(way(placements, from, to).back() == to);
      }
  }
}

TEST_CASE("a ring is a torus of one dimension and its way leads backwards when both are as long") {
  for (std::uint32_t gpus = 1; gpus <= 9; ++gpus) {
    const std::vector<Placement> ring = place({}, gpus), same = place(torus({gpus}), gpus);
    for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) {
      CHECK(ring[gpu].neighbours == same[gpu].neighbours);
      if (gpus > 1) CHECK(ring[gpu].neighbours[0] == (gpu + gpus - 1) % gpus);
      if (gpus % 2 == 0) CHECK(ring[gpu].route[(gpu + gpus / 2) % gpus].port == 0);
    }
  }
}

TEST_CASE("fully connected GPUs have a link to each other one") {
  for (const std::uint32_t gpus : {1u, 2u, 3u, 8u, most_ports + 1}) {
    const std::vector<Placement> placements = place(of_kind(Topology::Kind::fully_connected), gpus);
    for (std::uint32_t from = 0; from < gpus; ++from) {
      CHECK(placements[from].neighbours.size() == gpus - 1);
      for (std::uint32_t to = 0; to < gpus; ++to)
        if (to != from) CHECK(way(placements, from, to).size() == 1);
    }
  }
}

TEST_CASE("as many links lead to a GPU as its placement says") {
  for (const Dimensions& dimensions : tori) {
    const std::vector<Placement> placements = place(torus(dimensions), product(dimensions));
    for (const Placement& placement : placements) {
      std::size_t links = 0;
      for (const Placement& other : placements)
        links += static_cast<std::size_t>(std::count(other.neighbours.begin(), other.neighbours.end(), placement.gpu));
      CHECK(links == placement.receivers);
    }
  }
}

/// Duato's and Dally's condition by brute force: which buffer (a link's channel) waits for which.
TEST_CASE("no buffer of a torus waits for itself over any routes") {
  for (const Dimensions& dimensions : tori) {
    const std::vector<Placement> placements = place(torus(dimensions), product(dimensions));
    const std::size_t gpus = placements.size(), ports = 2 * dimensions.size(), buffers = gpus * ports * 2;
    std::vector<std::vector<bool>> waits(buffers, std::vector<bool>(buffers, false));
    const auto buffer = [&](std::uint32_t gpu, std::uint32_t to) {
      const interconnect::Hop& hop = placements[gpu].route[to];
      return (gpu * ports + hop.port) * 2 + hop.channel;
    };
    for (std::uint32_t from = 0; from < gpus; ++from)
      for (std::uint32_t to = 0; to < gpus; ++to) {
        if (from == to) continue;
        std::uint32_t at = from;
        for (const std::uint32_t next : way(placements, from, to)) {
          if (next != to) waits[buffer(at, to)][buffer(next, to)] = true;
          at = next;
        }
      }
    for (std::size_t k = 0; k < buffers; ++k)
      for (std::size_t i = 0; i < buffers; ++i)
        for (std::size_t j = 0; waits[i][k] && j < buffers; ++j)
          if (waits[k][j]) waits[i][j] = true;
    std::size_t circles = 0;
    for (std::size_t i = 0; i < buffers; ++i) circles += waits[i][i] ? 1u : 0u;
    CHECK(circles == 0);
  }
}

}  // namespace t3vp::test::topology_test
