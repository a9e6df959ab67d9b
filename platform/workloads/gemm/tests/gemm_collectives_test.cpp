// The collectives behind a GEMM by every algorithm: right sums, what links carry, what is refused.
#include <catch2/catch.hpp>

#include "io/input_error.h"
#include "system/platform_run.h"
#include "system/reference_sum.h"

namespace t3vp::test::gemm_collectives_test {

namespace {

using nlohmann::json;

struct Links {
  std::uint32_t gpus;
  const char* topology;
  const char* algorithm;
};

struct Shape {
  std::uint32_t m, n, k;
};

const char* const two_nodes =
    R"({"kind": "nodes", "gpus_per_node": 2, "inside": {"topology": "fully-connected"},
        "between": {"topology": "ring", "bandwidth_GBps": 1}})";

const Links all_links[] = {{4, R"("ring")", "direct"},
                           {4, R"("fully-connected")", "direct"},
                           {4, two_nodes, "hierarchical"},
                           {6, two_nodes, "hierarchical"},
                           {4, R"({"kind": "torus", "dimensions": [2, 2]})", "torus-rings"},
                           {6, R"({"kind": "torus", "dimensions": [3, 2]})", "torus-rings"},
                           {4, R"({"kind": "switch", "latency_ns": 100, "reduction": true})", "in-network"}};

Settings sub_layer(const char* method, const Links& links, const Settings& more = {}) {
  return Settings{on_small_system(), "gpus=" + std::to_string(links.gpus), std::string("method=") + method,
                  "collectives=" + json{{"algorithm", links.algorithm}}.dump(),
                  std::string("system.links.topology=") + links.topology} +
         more;
}

std::string refusal_of(const std::filesystem::path& file, const Settings& settings) {
  try {
    load_run(file, settings);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

std::string refusal(const Settings& settings) { return refusal_of(config("runs/gemm-rs-4gpu.json"), settings); }

void check_sums(const char* method, const Links& links, Shape shape) {
  CAPTURE(links.gpus, links.topology, links.algorithm, method);
  const Run run = Run::of_platform(
      sub_layer(method, links, gemm(shape.m, shape.n, shape.k) + Settings{"data=functional", "check=protocol"}));
  CAPTURE(run.diagnosis());
  REQUIRE(run.exit_code() == 0);
  CHECK(run.report()["functional"]["elements"] == links.gpus * shape.m * shape.n);
  CHECK(run.report()["functional"]["mismatches"] == 0);
  CHECK(run.report()["collectives"]["algorithm"] == links.algorithm);
  CHECK(run.report()["time_ns"]["all_gather"].is_number());
}

double payload(const Run& run) {
  double sum = 0;
  for (const auto& link : run.report()["links"])
    if (link["from"].is_number()) sum += link["payload_bytes"].get<double>();
  return sum;
}

}  // namespace

/// Neither M nor N is a multiple of the tile, and tiles do not divide by the GPUs: chunks begin and end inside rows.
TEST_CASE("sums behind a GEMM are right by every algorithm, at odd sizes and with rows that are padded") {
  for (const Links& links : all_links)
    for (const char* const method : {"sequential", "ideal-overlap"}) check_sums(method, links, {131, 75, 40});
}

TEST_CASE("an all-gather of chunks of tiles is right by every algorithm") {
  for (const Links& links : all_links) {
    if (links.algorithm != std::string("in-network")) check_sums("t3", links, {523, 331, 64});
    check_sums("ideal-rs-nmc", links, {523, 331, 64});
  }
}

TEST_CASE("collectives of 3, 5 and 7 GPUs are right, whose chunks have different numbers of tiles") {
  for (const std::uint32_t gpus : {3u, 5u, 7u})
    for (const char* const method : {"sequential", "t3", "ideal-rs-nmc"})
      check_sums(method, {gpus, R"("fully-connected")", "direct"}, {523, 331, 64});
}

TEST_CASE("real data cost no time and no traffic with any algorithm") {
  for (const Links& links : all_links) {
    CAPTURE(links.algorithm);
    const Settings shape = gemm(256, 128, 64);
    const Run with = Run::of_platform(sub_layer("sequential", links, shape + Settings{"data=functional"})),
              without = Run::of_platform(sub_layer("sequential", links, shape + Settings{"data=timing-only"}));
    CHECK(with.report()["time_ns"] == without.report()["time_ns"]);
    CHECK(with.report()["dram_bytes"] == without.report()["dram_bytes"]);
  }
}

TEST_CASE("links carry each sum and each copy once where GPUs are fully connected") {
  const Run run =
      Run::of_platform(sub_layer("sequential", all_links[1], gemm(256, 128, 64) + Settings{"data=timing-only"}));
  CHECK(payload(run) == 2.0 * 3 * 256 * 128 * 2);
}

TEST_CASE("auto takes all ports of fully connected GPUs, and a ring where nothing else may be") {
  const Settings shape = gemm(256, 128, 64) + Settings{"data=timing-only"};
  const auto chosen = [](const Settings& settings) {
    return configuration_of(settings).resolved.at("collectives").at("algorithm").get<std::string>();
  };
  const Links connected{4, R"("fully-connected")", "auto"};
  CHECK(chosen(sub_layer("sequential", connected, shape)) == "direct");
  CHECK(chosen(sub_layer("t3", connected, shape)) == "direct");
  CHECK(chosen(sub_layer("ideal-rs-nmc", connected, shape)) == "direct");
  CHECK(chosen(sub_layer("sequential", connected, shape + Settings{"operands=random"})) == "ring");
  const Run ring = Run::of_platform(sub_layer("sequential", {4, R"("fully-connected")", "ring"}, shape)),
            automatic = Run::of_platform(sub_layer("sequential", connected, shape));
  CHECK(automatic.time("total") < ring.time("total"));
}

TEST_CASE("a report names the algorithm of each collective of the method") {
  const auto algorithms = [](const char* method, const Links& links, const Settings& more = {}) {
    const Settings shape = gemm(256, 128, 64) + Settings{"data=timing-only"};
    return json(Run::of_platform(sub_layer(method, links, shape + more)).report().value("algorithms", json()));
  };
  const Links connected = all_links[1];
  CHECK(algorithms("sequential", connected) == json{{"reduce_scatter", "direct"}, {"all_gather", "direct"}});
  CHECK(algorithms("ideal-overlap", connected, {R"(phases=["gemm", "all-gather"])"}) == json{{"all_gather", "direct"}});
  CHECK(algorithms("ideal-rs-nmc", connected) ==
        json{{"reduce_scatter", "near-memory ring"}, {"all_gather", "direct"}});
  CHECK(algorithms("t3", connected) == json{{"reduce_scatter", "fused ring"}, {"all_gather", "direct"}});
  const Settings direct{"workload.fused=direct-reduce-scatter"};
  CHECK(algorithms("t3", connected, direct) == json{{"reduce_scatter", "fused direct"}, {"all_gather", "direct"}});
  const Links no_choice{4, R"("fully-connected")", "auto"};
  CHECK(algorithms("t3", no_choice, {"workload.fused=all-reduce"}) == json{{"all_reduce", "fused direct"}});
  CHECK(algorithms("t3", no_choice, {"workload.fused=all-to-all"}) == json{{"all_to_all", "fused direct"}});
}

TEST_CASE("algorithms that links, methods or operands exclude are refused with the reason") {
  const Settings shape = gemm(256, 128, 64);
  const auto why = [&](const char* method, const char* topology, const char* algorithm, const Settings& more = {}) {
    return refusal(sub_layer(method, {4, topology, algorithm}, shape + more));
  };
  const char* const connected = R"("fully-connected")";
  CHECK_THAT(why("sequential", connected, "hierarchical"),
             Catch::Contains("/collectives/algorithm") && Catch::Contains("needs links of kind nodes"));
  CHECK_THAT(why("sequential", connected, "in-network"), Catch::Contains("needs a switch with reduction"));
  CHECK_THAT(why("sequential", connected, "torus-rings"), Catch::Contains("needs links of kind torus"));
  CHECK_THAT(why("sequential", connected, "direct", {"operands=random"}), Catch::Contains("random operands"));
  CHECK_THAT(why("t3", std::end(all_links)[-1].topology, "in-network"), Catch::Contains("the mapped output"));
  CHECK_THAT(why("t3", R"("ring")", "direct", {"simulate=mirror", "data=timing-only"}),
             Catch::Contains("one GPU cannot stand for all"));
  CHECK_THAT(why("sequential", connected, "in-switch"), Catch::Contains("collectives"));
  CHECK_THAT(why("t3", connected, "direct", {"workload.fused=all-reduce"}),
             Catch::Contains("/collectives/algorithm") && Catch::Contains("no collective with a choice of algorithms"));
  CHECK(refusal(shape + Settings{"method=t3", "system.links.topology=fully-connected", "workload.fused=all-reduce"})
            .empty());  // the file's ring goes with its kind
}

TEST_CASE("a run file's collectives are refused with another workload, and dropped with one that --set replaces") {
  const std::string other = R"(workload={"collective": {"op": "all-reduce", "bytes": 4096}})";
  const std::string why = "this key only with the workload gemm or rivals, not collective";
  const Settings replaced{"method=sequential", other};
  CHECK_FALSE(configuration_of(replaced).resolved.contains("collectives"));
  CHECK_THAT(refusal(replaced + Settings{"collectives.algorithm=direct"}),
             Catch::Contains("/collectives") && Catch::Contains(why));
  CHECK_THAT(refusal_of(config("runs/all-reduce-4gpu.json"), {"collectives.algorithm=direct"}), Catch::Contains(why));
  CHECK_THAT(refusal_of(config("runs/embedding-4gpu.json"), {R"(collectives={"algorithm": "ring"})"}),
             Catch::Contains("not embedding"));
}

}  // namespace t3vp::test::gemm_collectives_test
