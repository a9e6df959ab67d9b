// Traffic over several hops with receive buffers that hold hardly anything.
#include <catch2/catch.hpp>

#include "random_fabric.h"
#include "topologies.h"

namespace t3vp::test::deadlock_test {

namespace {

struct Case {
  const char* name;
  Topology topology;
  std::uint32_t gpus;
  bool needs_channels;  ///< a ring of more than three GPUs, or ways in and out of a node by the same ring
};

/// A store of any size goes when the buffer is empty, so that a buffer of a byte holds one.
interconnect::LinkParameters smallest_buffers() {
  interconnect::LinkParameters parameters;
  parameters.receive_buffer_bytes = 1;
  parameters.arbitration_bytes = 64;
  return parameters;
}

LinkTier small(const Topology& topology) { return {smallest_buffers(), topology}; }

const std::vector<Case>& cases() {
  const Topology switched = of_kind(Topology::Kind::switched), full = of_kind(Topology::Kind::fully_connected);
  static const std::vector<Case> list{
      {"ring_3", {}, 3, false},
      {"ring_8", {}, 8, true},
      {"ring_9", {}, 9, true},
      {"fully_connected_5", full, 5, false},
      {"switch_2", switched, 2, false},
      {"switch_9", switched, 9, false},
      {"torus_2_2", torus_of({2, 2}), 4, false},
      {"torus_4_4", torus_of({4, 4}), 16, true},
      {"torus_5_3", torus_of({5, 3}), 15, true},
      {"torus_3_2_4", torus_of({3, 2, 4}), 24, true},
      {"alike_torus_4_4", alike_torus_of({4, 4}), 16, true},
      {"alike_torus_7_3", alike_torus_of({7, 3}), 21, true},
      {"nodes_3_of_4", nodes_of(4, small({}), small({}), false), 12, true},
      {"nodes_2_of_5_by_one_port", nodes_of(5, small({}), small({}), true), 10, true},
      {"nodes_4_of_3_by_switches", nodes_of(3, small(switched), small(switched), true), 12, false}};
  return list;
}

std::unique_ptr<RandomFabric> fabric_of(const Case& c, const RandomTraffic& traffic) {
  return std::make_unique<RandomFabric>(c.name, lay_out(small(c.topology), c.gpus), traffic);
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

TEST_CASE("stores and loads and fetch-and-adds of all with all get through every topology with buffers of one packet") {
  require_all_arrives({400, 400, 4096, true, 4, 60});
}

TEST_CASE("stores and loads and signals behind them get through every topology with buffers of one packet") {
  require_all_arrives({400, 400, 4096, true, 6, 30, 30});
}

TEST_CASE("a signal behind every store gets through every topology with buffers of one packet") {
  require_all_arrives({400, 400, 4096, true, 7, 0, 50});
}

TEST_CASE("loads alone get through every topology with buffers of one packet") {
  require_all_arrives({400, 400, 1024, false, 5, 100});
}

TEST_CASE("a million packets get through every topology with buffers of one store", "[.million]") {
  std::vector<std::unique_ptr<RandomFabric>> fabrics;
  std::uint32_t seed = 3;
  for (const Case& c : cases())
    fabrics.push_back(
        fabric_of(c, {1'000'000 / c.gpus + 1, 64, 512, ++seed % 2 == 0, seed, seed % 3 * 40, seed % 2 * 20}));
  sc_core::sc_start();
  for (std::size_t i = 0; i < fabrics.size(); ++i) {
    INFO(cases()[i].name);
    CHECK(fabrics[i]->done());
    CHECK(fabrics[i]->is_whole());
  }
}

TEST_CASE("without virtual channels the same traffic stops in a ring and in a torus and in nodes of rings") {
  std::vector<std::unique_ptr<RandomFabric>> fabrics;
  for (const Case& c : cases()) {
    Fabric fabric = lay_out(small(c.topology), c.gpus);
    for (Placement& placement : fabric.gpus)
      for (interconnect::Hop& hop : placement.route) hop.channel = 0;
    fabrics.push_back(std::make_unique<RandomFabric>(c.name, fabric, RandomTraffic{400, 400, 64, true, 2}));
  }
  sc_core::sc_start();
  for (std::size_t i = 0; i < fabrics.size(); ++i) {
    INFO(cases()[i].name);
    CHECK(fabrics[i]->done() == !cases()[i].needs_channels);
  }
}

}  // namespace t3vp::test::deadlock_test
