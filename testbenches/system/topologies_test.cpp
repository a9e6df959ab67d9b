// The same work on other topologies of links.
#include <catch2/catch.hpp>

#include "system/reference_sum.h"

namespace t3vp::test::topologies_test {

namespace {

Settings settings_of(std::uint32_t gpus, const std::string& topology, const std::string& method) {
  return gemm(300, 200, 64) + Settings{on_small_system(),
                                       "gpus=" + std::to_string(gpus),
                                       "method=" + method,
                                       "check=protocol",
                                       "system.links.topology=" + topology,
                                       "system.links.receive_buffer_KiB=18",
                                       "system.tracker.chunks=64",
                                       "system.dma.commands=64"};
}

Run right_run(std::uint32_t gpus, const Settings& settings) {
  Run run = Run::of_platform(settings);
  CAPTURE(run.diagnosis());
  REQUIRE(run.exit_code() == 0);
  const Comparison comparison = compare(run, gpus, Element::fp16, Sums::exact);
  REQUIRE(comparison.elements == std::size_t{gpus} * 300 * 200);
  REQUIRE(comparison.wrong == 0);
  return run;
}

}  // namespace

TEST_CASE("the result is right on every topology") {
  const auto [gpus, topology] = GENERATE(table<std::uint32_t, const char*>({
      {5, "fully-connected"},
      {2, "switch"},
      {7, R"({"kind": "switch", "latency_ns": 100, "queue_KiB": 18})"},
      {6, R"({"kind": "torus", "dimensions": [3, 2]})"},
      {9, R"({"kind": "torus", "dimensions": [3, 3]})"},
      {8, R"({"kind": "torus", "dimensions": [2, 2, 2]})"},
      {6,
       R"({"kind": "nodes", "gpus_per_node": 3, "inside": {"topology": "switch"}, "between": {"topology": "ring"}})"},
      {10, R"({"kind": "nodes", "gpus_per_node": 5, "inside": {"topology": "ring"}, "ports": "node",
               "between": {"topology": "switch", "bandwidth_GBps": 20, "link_latency_ns": 900}})"},
  }));
  for (const char* method : {"sequential", "t3", "t3-mca"}) {
    CAPTURE(gpus, topology, method);
    right_run(gpus, settings_of(gpus, topology, method));
  }
}

TEST_CASE("a ring's traffic takes as long between fully connected GPUs") {
  for (const char* method : {"sequential", "t3", "t3-mca"}) {
    INFO(method);
    const Run ring = right_run(4, settings_of(4, "ring", method));
    const Run full = right_run(4, settings_of(4, "fully-connected", method));
    CHECK(ring.report()["time_ns"]["total"] == full.report()["time_ns"]["total"]);
  }
}

// Two or three ways follow one another: of the reduce-scatter, of the all-gather, and of a signal between them. A link
// more is its latency of 200 ns, and a block of 2048 bytes that is 512 ns on the wire.
TEST_CASE("a switch costs a ring a link and its latency for each way") {
  const auto total = [](const char* topology) {
    return right_run(2, settings_of(2, topology, "sequential")).report()["time_ns"]["total"].get<double>();
  };
  const double ring = total("ring"), fast = total("switch"), slow = total(R"({"kind": "switch", "latency_ns": 1000})");
  CHECK(ring + 2 * 200 <= fast);
  CHECK(fast <= ring + 3 * (200 + 512));
  CHECK(fast + 2 * 1000 <= slow);
  CHECK(slow <= fast + 3 * 1000);
}

TEST_CASE("a slower link slows its ring down to its bandwidth and no other direction") {
  const auto run = [](const char* overrides) {
    return right_run(
        4, settings_of(4, "ring", "sequential") + Settings{std::string("system.links.overrides=") + overrides});
  };
  const Run equal = run(R"([{"from": 1, "to": 0, "bandwidth_GBps": 1}, {"from": 0, "to": 1, "bandwidth_GBps": 1}])");
  const Run slow = run(R"([{"from": 1, "to": 0, "bandwidth_GBps": 1}])");
  const Run faster = run(R"([{"from": 0, "to": 1, "bandwidth_GBps": 1}])");
  CHECK(slow.report()["time_ns"]["total"] == equal.report()["time_ns"]["total"]);
  const double wire = slow.report()["links"][2]["wire_bytes"];  // GPU 1's first port
  CHECK(slow.time("total") >= wire);
  CHECK(slow.time("total") <= wire * 9 / 8);
  CHECK(faster.time("total") >= faster.report()["links"][2]["wire_bytes"].get<double>() / 4);
  CHECK(faster.time("total") <= wire / 2);
  CHECK(slow.report()["bounds"]["link_ns"] == Approx(wire));
}

TEST_CASE("links of switches are in the report by name") {
  const Run run = right_run(3, settings_of(3, "switch", "sequential"));
  const auto& links = run.report()["links"];
  REQUIRE(links.size() == 6);
  CHECK(links[1]["from"] == 1);
  CHECK(links[1]["to"] == "switch0");
  CHECK(links[5]["from"] == "switch0");
  CHECK(links[5]["to"] == 2);
  for (std::size_t gpu = 0; gpu < 3; ++gpu)  // what comes from the next GPU
    CHECK(links[3 + gpu]["payload_bytes"] == links[(gpu + 1) % 3]["payload_bytes"]);
}

// A ring over the nodes leaves each of them once: the way back into a node is the slow link, whatever is inside.
TEST_CASE("a ring over nodes is as slow as its link between them") {
  const auto total = [](const char* topology) {
    return right_run(4, settings_of(4, topology, "sequential")).report()["time_ns"]["total"].get<double>();
  };
  const double slow = total(R"({"kind": "nodes", "gpus_per_node": 2, "inside": {"topology": "ring"},
                                "between": {"topology": "ring", "bandwidth_GBps": 1}})");
  const double fast = total(R"({"kind": "nodes", "gpus_per_node": 2, "inside": {"topology": "ring"},
                                "between": {"topology": "ring"}})");
  // Twice all chunks but one, which are a quarter each on average, leave a node at 1 or 4 GB/s.
  constexpr double bytes = 300 * 200 * 2, chunks = 2 * (bytes - bytes / 4);
  CHECK(slow >= chunks);
  CHECK(slow <= chunks * 9 / 8);
  CHECK(fast >= chunks / 4);
  CHECK(fast <= chunks / 4 * 3 / 2);
}

TEST_CASE("what a tier leaves out is as the links around it have it") {
  const auto total = [](const char* inside, const char* bandwidth) {
    const std::string topology = std::string(R"({"kind": "nodes", "gpus_per_node": 4, "inside": )") + inside +
                                 R"(, "between": {"topology": "ring"}})";
    return right_run(4,
                     settings_of(4, topology, "t3") + Settings{std::string("system.links.bandwidth_GBps=") + bandwidth})
        .report()["time_ns"]["total"];
  };
  CHECK(total(R"({"topology": "ring"})", "33") == total(R"({"topology": "ring", "bandwidth_GBps": 33})", "75"));
}

TEST_CASE("a slower GPU holds all others up and no more than if all were slow") {
  const auto total = [](const Settings& more) {
    return right_run(3, settings_of(3, "ring", "t3") + more).report()["time_ns"]["total"].get<double>();
  };
  const double fast = total({}), one = total({R"(system.gpus=[{"gpu": 1, "set": {"compute.clock_GHz": 0.2}}])"}),
               all = total({"system.compute.clock_GHz=0.2"});
  CHECK(fast < one);
  CHECK(one <= all);
  CHECK(all <= fast + 4 * 2.0 * 300 * 200 * 64 / (4 * 1024 * 0.75));  // operations take five times as long
}

TEST_CASE("a GPU's own memory and number of compute units take effect on it alone") {
  const Run run =
      right_run(3, settings_of(3, "ring", "sequential") +
                       Settings{R"(system.gpus=[{"gpu": 2, "set": {"compute.compute_units": 2, "memory.channels": 2}},
                                      {"gpu": 0, "set": {"memory.dram.timing.CCDWL": 9}}])"});
  const double slowest = run.report()["bounds"]["dram_ns"];
  const Run alike = right_run(3, settings_of(3, "ring", "sequential"));
  CHECK(slowest > 1.5 * alike.report()["bounds"]["dram_ns"].get<double>());
  CHECK(run.time("total") > alike.time("total"));
  CHECK(run.time("total") < 2 * alike.time("total"));  // half the compute units and channels
}

TEST_CASE("a GPU's own cache leaves the others' hits as they are") {
  const auto hits = [](const Settings& more) {
    const Run run = right_run(3, settings_of(3, "ring", "sequential") + more);
    std::vector<double> rates;
    for (const auto& statistic : run.report()["statistics"])
      if (statistic["name"].get<std::string>().find(".cache.hit_rate") != std::string::npos)
        rates.push_back(statistic["value"]);
    REQUIRE(rates.size() == 3);
    return rates;
  };
  const std::vector<double> alike = hits({}), one = hits({R"(system.gpus=[{"gpu": 1, "set": {"cache.ways": 1,
                                                               "cache.capacity_MiB": 0.015625}}])"});
  CHECK(one[0] == Approx(alike[0]).epsilon(0.02));
  CHECK(one[2] == Approx(alike[2]).epsilon(0.02));
  CHECK(one[1] < 0.9 * alike[1]);
}

TEST_CASE("a ring over a torus's links takes longer where it goes two ways at once") {
  const Run ring = right_run(9, settings_of(9, "ring", "sequential"));
  const Run torus = right_run(9, settings_of(9, R"({"kind": "torus", "dimensions": [3, 3]})", "sequential"));
  const double more = torus.time("total") - ring.time("total");
  CHECK(more > 0);
  CHECK(more <= 2 * 8 * (200 + 512));  // a link's latency and a block in each of 8 steps of both collectives
}

}  // namespace t3vp::test::topologies_test
