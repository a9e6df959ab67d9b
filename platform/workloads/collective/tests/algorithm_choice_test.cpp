// Algorithm auto: what is chosen is about the fastest, and the report says what it is.
#include <catch2/catch.hpp>
#include <limits>
#include <map>

#include "io/input_error.h"
#include "system/platform_run.h"

namespace t3vp::test::algorithm_choice_test {

namespace {

using nlohmann::json;

const char* const algorithms[] = {"ring", "direct", "hierarchical", "in-network", "torus-rings"};

Settings collective(const std::string& op, const std::string& algorithm, std::uint64_t bytes,
                    const std::string& topology) {
  return {on_small_system(),
          "gpus=8",
          "method=sequential",
          "data=timing-only",
          "system.links.topology=" + topology,
          "workload=" + json{{"collective", {{"op", op}, {"algorithm", algorithm}, {"bytes", bytes}}}}.dump()};
}

std::string chosen(const Settings& settings) {
  return configuration_of(settings).resolved.at("workload").at("collective").at("algorithm");
}

/// Times by the algorithms that the links and the operation allow.
std::map<std::string, double> times(const std::string& op, std::uint64_t bytes, const std::string& topology) {
  std::map<std::string, double> all;
  for (const char* const algorithm : algorithms) {
    const Settings settings = collective(op, algorithm, bytes, topology);
    try {
      configuration_of(settings);
    } catch (const InputError&) {
      continue;
    }
    const Run run = Run::of_platform(settings);
    REQUIRE(run.exit_code() == 0);
    all[algorithm] = run.time("total");
  }
  return all;
}

const char* const two_nodes =
    R"({"kind": "nodes", "gpus_per_node": 4, "inside": {"topology": "fully-connected"},
        "between": {"topology": "ring", "bandwidth_GBps": 1}})";

}  // namespace

TEST_CASE("the algorithm that is chosen is within a tenth of the fastest on every kind of links") {
  const std::string topology =
      GENERATE(as<std::string>(), R"("ring")", R"("fully-connected")", R"({"kind": "switch", "latency_ns": 100})",
               R"({"kind": "switch", "latency_ns": 100, "reduction": true})",
               R"({"kind": "torus", "dimensions": [4, 2]})", two_nodes);
  for (const char* const op : {"reduce-scatter", "all-gather", "all-reduce", "all-to-all", "broadcast"})
    for (const std::uint64_t bytes : {std::uint64_t{16} << 10, std::uint64_t{192} << 10}) {
      const std::map<std::string, double> all = times(op, bytes, topology);
      double least = std::numeric_limits<double>::infinity();
      for (const auto& [algorithm, time] : all) least = std::min(least, time);
      const std::string choice = chosen(collective(op, "auto", bytes, topology));
      CAPTURE(topology, op, bytes, choice, all);
      CHECK(all.at(choice) <= 1.1 * least);
    }
}

TEST_CASE("auto is the default, and is the configuration of what it chooses") {
  const Settings settings = collective("all-reduce", "auto", 65536, R"("fully-connected")");
  CHECK(chosen(settings) == "direct");
  const t3vp::RunConfiguration automatic = configuration_of(settings);
  const Settings left_out = settings + Settings{R"(workload={"collective": {"op": "all-reduce", "bytes": 65536}})"};
  CHECK(configuration_of(left_out).config_hash == automatic.config_hash);
  CHECK(configuration_of(collective("all-reduce", "direct", 65536, R"("fully-connected")")).config_hash ==
        automatic.config_hash);
  const Run run = Run::of_platform(settings);
  CHECK(run.report()["workload"]["collective"]["algorithm"] == "direct");
  CHECK_THAT(run.report()["workload"]["label"].get<std::string>(), Catch::StartsWith("direct all-reduce"));
}

TEST_CASE("one GPU stands for all only by an algorithm that allows it") {
  const Settings settings{"system=" + config("systems/torus-128.json").string(),
                          "gpus=128",
                          "simulate=mirror",
                          "data=timing-only",
                          "method=sequential",
                          R"(workload={"collective": {"op": "all-reduce", "bytes": 1048576}})"};
  CHECK(chosen(settings) == "torus-rings");
}

}  // namespace t3vp::test::algorithm_choice_test
