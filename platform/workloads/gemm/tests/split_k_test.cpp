// Fused GEMMs whose workgroups share a tile by k (T3 section 7.7), and thin ones (7.3).
#include <catch2/catch.hpp>

#include "system/kernel_runs.h"

namespace t3vp::test::split_k_test {

namespace {

const char* const kinds[] = {"ring-reduce-scatter", "direct-reduce-scatter", "all-reduce"};

Settings split(std::uint32_t gpus, std::uint32_t slices, const char* kind) {
  return {on_small_system(),
          "gpus=" + std::to_string(gpus),
          "method=t3",
          "workload.split_k=" + std::to_string(slices),
          std::string("workload.fused=") + kind,
          "system.tracker.chunks=64",
          "system.dma.commands=64"};
}

}  // namespace

TEST_CASE("workgroups that share a tile by k give the right sums at odd sizes") {
  const auto [gpus, slices, shape] = GENERATE(table<std::uint32_t, std::uint32_t, Settings>({
      {2, 2, gemm(67, 139, 70)},
      {3, 3, gemm(301, 70, 333)},
      {5, 4, gemm(130, 300, 257)},
      {7, 2, gemm(200, 190, 64)},
      {8, 5, gemm(257, 190, 160)},
  }));
  for (const char* kind : kinds)
    for (const char* element : {"fp16", "fp32"}) {
      if (element == std::string("fp16") && kind != kinds[0]) continue;
      CAPTURE(gpus, slices, kind, element);
      const Run run =
          right_run(shape + split(gpus, slices, kind) +
                    Settings{"data=functional", "check=all", std::string("workload.gemm.element=") + element});
      CHECK(run.report()["functional"]["checked"] == true);
      CHECK(run.report()["functional"]["mismatches"] == 0);
    }
}

TEST_CASE("a transposed b and nodes have shares of k as well") {
  right_run(gemm(130, 139, 200) + split(3, 3, kinds[0]) +
            Settings{"data=functional", "check=all", "workload.gemm.transpose_b=true"});
  right_run(gemm(256, 139, 200) + split(4, 3, "hierarchical-reduce-scatter") +
            Settings{"data=functional", "check=all", "workload.gemm.element=fp32",
                     R"(system.links.topology={"kind": "nodes", "gpus_per_node": 2,
                        "inside": {"topology": "fully-connected"}, "between": {"topology": "ring"}})"});
}

// The Tracker sends a tile on when all shares have been counted: links carry what they do without shares.
TEST_CASE("a ring carries each tile once however many workgroups share it") {
  const auto bytes = [](std::uint32_t slices) {
    return carried(right_run(gemm(256, 256, 256) + split(4, slices, kinds[0])));
  };
  CHECK(bytes(4) == bytes(1));
}

TEST_CASE("without the Tracker each share of a tile crosses the links by itself") {
  const auto bytes = [](std::uint32_t slices) {
    return carried(right_run(gemm(256, 256, 256) + split(4, slices, kinds[2]) + Settings{joined, "data=timing-only"}));
  };
  CHECK(bytes(4) - bytes(1) == 3ull * 256 * 256 * 2 * 3);  // three more addends of each element but the owner's
}

TEST_CASE("shares of k take as long without data and at any quantum") {
  const auto times = [](const char* setting) {
    return right_run(gemm(130, 139, 200) + split(3, 3, kinds[0]) + Settings{setting}).report()["time_ns"].dump();
  };
  const std::string usual = times("data=timing-only");
  CHECK(times("data=functional") == usual);
}

TEST_CASE("a deep GEMM with few tiles is faster when workgroups share them") {
  const auto time = [](std::uint32_t slices) {
    return right_run(gemm(64, 256, 2048) + split(4, slices, kinds[0])).time("fused");
  };
  CHECK(time(4) < time(1));
}

TEST_CASE("the products of few tokens are reduced right") {
  for (const std::uint32_t tokens : {1u, 3u, 64u})
    for (const std::uint32_t gpus : {3u, 5u, 7u}) {
      CAPTURE(tokens, gpus);
      right_run(gemm(tokens, 600, 130) + split(gpus, 1, kinds[2]) + Settings{"data=functional", "check=all"});
      right_run(gemm(tokens, 600, 130) + split(gpus, 3, kinds[2]) +
                Settings{"data=functional", "check=all", "workload.gemm.element=fp32"});
    }
}

TEST_CASE("split_k that a GEMM cannot have is one line that names it") {
  using Catch::Contains;
  const auto message = [](const Settings& settings) {
    return refusal_of(gemm(256, 256, 64) + split(4, 2, kinds[0]) + settings);
  };
  CHECK_THAT(message({"workload.split_k=0"}), Contains("/workload/split_k"));
  CHECK_THAT(message({"workload.split_k=5"}), Contains("/workload/split_k") && Contains("at most"));
  CHECK_THAT(message({"workload.fused=all-to-all"}), Contains("/workload/split_k"));
  CHECK_THAT(message({"data=functional", "workload.gemm.element=bf16"}), Contains("/workload/split_k"));
  CHECK_THAT(message({"data=functional", "operands=random"}), Contains("/workload/split_k"));
  CHECK_THAT(message({"data=functional", "workload.fused=all-reduce"}), Contains("fp32 with fused all-reduce"));
  CHECK_THAT(message({"data=timing-only", "simulate=mirror"}), Contains("/simulate"));
  CHECK_THAT(refusal_of(gemm(256, 256, 64) + Settings{on_small_system(), "method=sequential", "workload.split_k=2"}),
             Contains("only with method t3 or t3-mca"));
}

}  // namespace t3vp::test::split_k_test
