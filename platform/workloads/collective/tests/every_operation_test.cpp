// Every operation that has a folder, by each of its algorithms: the elements of every GPU on every topology.
#include <algorithm>
#include <catch2/catch.hpp>

#include "system/platform_run.h"
#include "workloads/collective/collective_oracle.h"
#include "workloads/collective_operations.h"

namespace t3vp::test::every_operation_test {

namespace {

struct Links {
  std::uint32_t gpus;
  std::string topology;
  std::vector<t3_collective_algorithm> algorithms;  ///< that these links allow beside ring and direct
};

/// A torus has at least two rows.
std::vector<Links> links_of(std::uint32_t gpus) {
  const std::string size = std::to_string(gpus);
  return {{gpus, "\"ring\"", {}},
          {gpus, "\"switch\"", {}},
          {2 * gpus, R"({"kind": "torus", "dimensions": [)" + size + ", 2]}", {T3_TORUS_RINGS}},
          {gpus, R"({"kind": "switch", "latency_ns": 100, "reduction": true})", {T3_IN_NETWORK}},
          {2 * gpus,
           R"({"kind": "nodes", "gpus_per_node": )" + size +
               R"(, "inside": {"topology": "ring"}, "between": {"topology": "ring"}})",
           {T3_HIERARCHICAL}}};
}

bool is_on(const Links& links, t3_collective_algorithm algorithm) {
  return algorithm == T3_RING || algorithm == T3_DIRECT ||
         std::find(links.algorithms.begin(), links.algorithms.end(), algorithm) != links.algorithms.end();
}

Run run_of(const CollectiveOperationDescription& operation, const nlohmann::json& algorithm, const Links& links,
           const Settings& settings = {}) {
  nlohmann::json collective{{"op", operation.name}, {"bytes", 2 * 5003}, {"element", "fp16"}};
  if (!algorithm.is_null()) collective["algorithm"] = algorithm;
  return Run::of_platform(Settings{on_small_system(), "gpus=" + std::to_string(links.gpus), "method=sequential",
                                   "data=functional", "check=protocol", "system.links.topology=" + links.topology,
                                   "workload=" + nlohmann::json{{"collective", collective}}.dump()} +
                          settings);
}

}  // namespace

TEST_CASE("every operation with a folder is right by each of its algorithms on every topology") {
  const std::uint32_t gpus = GENERATE(3u, 5u);
  for (const CollectiveOperationDescription& operation : collective_operations)
    for (const t3_collective_algorithm algorithm : operation.algorithms)
      for (const Links& links : links_of(gpus)) {
        if (!is_on(links, algorithm)) continue;
        CAPTURE(operation.name, t3vp::name_of(algorithm), links.gpus, links.topology);
        const Run run = run_of(operation, t3vp::name_of(algorithm), links);
        CAPTURE(run.diagnosis());
        REQUIRE(run.exit_code() == 0);
        CHECK(run.report()["functional"]["checked"] == true);
        CHECK(run.report()["functional"]["mismatches"] == 0);
        CHECK(run.time("total") >= run.report()["bounds"]["link_ns"].get<double>());
      }
}

TEST_CASE("a wrong bit is seen in every operation with a folder") {
  for (const CollectiveOperationDescription& operation : collective_operations) {
    CAPTURE(operation.name);
    const Run run = run_of(operation, {}, links_of(3)[1], {R"(inject={"wrong_element": {"gpu": 0, "index": 17}})"});
    CHECK(run.exit_code() == 1);
    CHECK(run.report()["functional"]["mismatches"] == 1);
  }
}

TEST_CASE("an operation without an algorithm goes by what auto chooses") {
  for (const CollectiveOperationDescription& operation : collective_operations) {
    const Run run = run_of(operation, {}, links_of(3)[0]);
    const Run same = run_of(operation, "auto", links_of(3)[0]);
    REQUIRE(run.exit_code() == 0);
    CHECK(run.text_without({"host"}) == same.text_without({"host"}));
  }
}

}  // namespace t3vp::test::every_operation_test
