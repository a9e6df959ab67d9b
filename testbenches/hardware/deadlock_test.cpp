// Traffic over several hops with receive buffers that hold hardly anything.
#include <catch2/catch.hpp>

#include "random_fabric.h"

namespace t3vp::test::deadlock_test {

namespace {

struct Case {
  const char* name;
  Topology topology;
  std::uint32_t gpus;
};

Topology of_kind(Topology::Kind kind) {
  Topology topology;
  topology.kind = kind;
  return topology;
}
Topology torus(std::vector<std::uint32_t> dimensions) {
  Topology topology;
  topology.dimensions = std::move(dimensions);
  return topology;
}

const std::vector<Case>& cases() {
  static const std::vector<Case> list{{"ring_3", {}, 3},
                                      {"ring_8", {}, 8},
                                      {"ring_9", {}, 9},
                                      {"fully_connected_5", of_kind(Topology::Kind::fully_connected), 5},
                                      {"switch_2", of_kind(Topology::Kind::switched), 2},
                                      {"switch_9", of_kind(Topology::Kind::switched), 9},
                                      {"torus_2_2", torus({2, 2}), 4},
                                      {"torus_4_4", torus({4, 4}), 16},
                                      {"torus_5_3", torus({5, 3}), 15},
                                      {"torus_3_2_4", torus({3, 2, 4}), 24}};
  return list;
}

/// A store of any size goes when the buffer is empty, so that a buffer of a byte holds one.
interconnect::LinkParameters smallest_buffers() {
  interconnect::LinkParameters parameters;
  parameters.receive_buffer_bytes = 1;
  parameters.arbitration_bytes = 64;
  return parameters;
}

std::unique_ptr<RandomFabric> fabric_of(const Case& c, const RandomTraffic& traffic) {
  return std::make_unique<RandomFabric>(c.name, place(c.topology, c.gpus), place_switches(c.topology, c.gpus),
                                        smallest_buffers(), traffic);
}

/// All fabrics run at once: modules cannot be added later.
void require_all_arrives(const RandomTraffic& traffic) {
  std::vector<std::unique_ptr<RandomFabric>> fabrics;
  for (const Case& c : cases()) fabrics.push_back(fabric_of(c, traffic));
  sc_core::sc_start();
  for (std::size_t i = 0; i < fabrics.size(); ++i) {
    INFO(cases()[i].name);
    CHECK(fabrics[i]->done());
    CHECK(fabrics[i]->is_whole());
  }
}

}  // namespace

TEST_CASE("random traffic gets through every topology with buffers of one store") {
  require_all_arrives({400, 32, 64, false, 1});
}

TEST_CASE("an all-to-all gets through every topology with buffers of one store") {
  require_all_arrives({400, 400, 4096, true, 2});
}

TEST_CASE("a million packets get through every topology with buffers of one store", "[.million]") {
  std::vector<std::unique_ptr<RandomFabric>> fabrics;
  std::uint32_t seed = 3;
  for (const Case& c : cases())
    fabrics.push_back(fabric_of(c, {1'000'000 / c.gpus + 1, 64, 512, ++seed % 2 == 0, seed}));
  sc_core::sc_start();
  for (std::size_t i = 0; i < fabrics.size(); ++i) {
    INFO(cases()[i].name);
    CHECK(fabrics[i]->done());
    CHECK(fabrics[i]->is_whole());
  }
}

TEST_CASE("without virtual channels the same traffic stops in a ring and in a torus") {
  std::vector<std::unique_ptr<RandomFabric>> fabrics;
  for (const Case& c : cases()) {
    std::vector<Placement> placements = place(c.topology, c.gpus);
    for (Placement& placement : placements)
      for (interconnect::Hop& hop : placement.route) hop.channel = 0;
    fabrics.push_back(std::make_unique<RandomFabric>(c.name, placements, place_switches(c.topology, c.gpus),
                                                     smallest_buffers(), RandomTraffic{400, 400, 64, true, 2}));
  }
  sc_core::sc_start();
  for (std::size_t i = 0; i < fabrics.size(); ++i) {
    const Case& c = cases()[i];
    const std::vector<std::uint32_t>& dimensions = c.topology.dimensions;
    const std::uint32_t longest = dimensions.empty() ? c.gpus : *std::max_element(dimensions.begin(), dimensions.end());
    INFO(c.name);
    CHECK(fabrics[i]->done() == (longest <= 3 || c.topology.kind != Topology::Kind::torus));
  }
}

}  // namespace t3vp::test::deadlock_test
