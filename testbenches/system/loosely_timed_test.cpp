// memory.model loosely-timed beside exact: the same results, nearly the same times, and the laws of exact runs.
#include <catch2/catch.hpp>

#include <cmath>

#include "report/comparison.h"
#include "report/result_table.h"
#include "system/kernel_runs.h"
#include "system/reference_sum.h"

namespace t3vp::test::loosely_timed_test {
namespace {

const Settings loosely{"system.memory.model=loosely-timed"};

Settings on(std::uint32_t gpus, const char* method) {
  return {on_small_system(), "gpus=" + std::to_string(gpus), std::string("method=") + method,
          "system.tracker.chunks=64", "system.dma.commands=64"};
}

}  // namespace

TEST_CASE("loosely-timed memory: results are exact, and times within 5% of exact memory's") {
  for (const char* method : {"sequential", "t3", "t3-mca", "ideal-rs-nmc"})
    for (const std::uint32_t gpus : {2u, 5u}) {
      const Settings settings = gemm(450, 330, 100) + on(gpus, method);
      const Run exact = Run::of_platform(settings), loose = Run::of_platform(settings + loosely);
      CAPTURE(method, gpus, loose.diagnosis());
      REQUIRE(loose.exit_code() == 0);
      CHECK(loose.report()["functional"]["mismatches"] == 0);
      CHECK(outputs(loose, gpus) == outputs(exact, gpus));
      CHECK(loose.time("total") == Approx(exact.time("total")).epsilon(0.05));
      for (std::size_t link = 0; link < exact.report()["links"].size(); ++link)
        CHECK(loose.report()["links"][link]["payload_bytes"] == exact.report()["links"][link]["payload_bytes"]);
    }
}

TEST_CASE("loosely-timed memory: the report, its title and a comparison name it") {
  const Settings settings = gemm(128, 128, 64) + on(2, "sequential");
  const Run exact = Run::of_platform(settings), loose = Run::of_platform(settings + loosely);
  CHECK_FALSE(exact.report().contains("approximate"));
  REQUIRE(loose.report().contains("approximate"));
  CHECK_THAT(loose.report()["approximate"][0].get<std::string>(), Catch::StartsWith("system.memory.model: "));
  CHECK_THAT(run_title(loose.report()), Catch::EndsWith(", loosely-timed memory"));
  CHECK_THAT(run_title(exact.report()), !Catch::Contains("loosely-timed"));
  CHECK(warning_of_totals(exact.report(), loose.report()) ==
        "the totals contain different things: only the second has loosely-timed memory");
}

/// A check of a functional run knows every element to the bit, but for those of layers.
TEST_CASE("loosely-timed memory: every workload passes its check, in nearly the time of exact memory") {
  using nlohmann::json;
  struct Case {
    const char* method;
    json workload;
  };
  const json bags = {{"global_batch", 32}, {"tables_per_gpu", 3}, {"dimension", 24}, {"pooling", 5}, {"rows", 101}};
  const json layers = {{"bottom_layers", 1}, {"top_layers", 2}, {"width", 40}};
  const json each = {{"op", "all-reduce"}, {"algorithm", "ring"}, {"bytes", 40'000}, {"element", "fp16"}};
  const json beside = {{"m", 200}, {"n", 150}, {"k", 100}, {"beside_m", 101}, {"beside_n", 150}, {"beside_k", 103}};
  for (const Case& one : std::vector<Case>{
           {"sequential", {{"collective", each}}},
           {"fused", {{"embedding", bags}}},
           {"zero-copy", {{"embedding", bags}}},
           {"fused-backward", {{"embedding", bags}, {"mlp", layers}}},
           {"fused", {{"gemv", {{"rows", 300}, {"columns", 130}}}}},
           {"fused", {{"experts", {{"tokens", 210}, {"hidden", 150}, {"inner", 100}}}}},
           {"t3", {{"moe", {{"tokens", 60}, {"hidden", 64}, {"experts", 6}}}}},
           {"t3", {{"gather_gemm", {{"m", 300}, {"n", 150}, {"k", 100}}}}},
           {"t3-mca", {{"data_parallel", beside}}},
           {"t3", {{"pipeline", {{"rows", 301}, {"width", 70}, {"parts", 3}}}}},
           {"t3", {{"gemm", {{"m", 450}, {"n", 330}, {"k", 100}}}, {"fused", "all-reduce"}}},
       }) {
    CAPTURE(one.method, one.workload.dump());
    const Settings settings =
        kernel_run(one.method, 3, one.workload) +
        Settings{"data=functional", "check=all", joined, "system.tracker.chunks=256", "system.dma.commands=256"};
    const Run exact = right_run(settings), loose = right_run(settings + loosely);
    CHECK(loose.report()["functional"]["elements"] > 0);
    CHECK(loose.report()["functional"] == exact.report()["functional"]);
    CHECK(loose.time("total") == Approx(exact.time("total")).epsilon(0.05));
    CHECK(carried(loose) == carried(exact));
  }
}

TEST_CASE("loosely-timed memory: a run without data takes the time of one with data") {
  for (const char* method : {"sequential", "t3-mca"}) {
    const Settings settings = gemm(450, 330, 100) + on(4, method) + loosely;
    const Run with = Run::of_platform(settings), without = Run::of_platform(settings + Settings{"data=timing-only"});
    CAPTURE(method);
    REQUIRE(without.exit_code() == 0);
    CHECK(with.report()["time_ns"] == without.report()["time_ns"]);
    CHECK(with.report()["dram_bytes"] == without.report()["dram_bytes"]);
  }
}

TEST_CASE("loosely-timed memory: the quantum of firmware changes nothing") {
  const Settings settings = gemm(260, 190, 64) + on(3, "t3") + loosely;
  const std::string text = Run::of_platform(settings + Settings{"quantum_ns=1"}).text_without({"host", "config_hash"});
  for (const char* quantum : {"quantum_ns=33", "quantum_ns=1000000"}) {
    CAPTURE(quantum);
    CHECK(Run::of_platform(settings + Settings{quantum}).text_without({"host", "config_hash"}) == text);
  }
}

TEST_CASE("loosely-timed memory: parts of what bounded a run add up to its time") {
  const Run run = Run::of_platform(gemm(450, 330, 100) + on(4, "t3") + loosely);
  const auto& parts = run.report()["bounded_by"]["total"];
  double sum = 0;
  for (const auto& [part, ns] : parts.items()) sum += ns.get<double>();
  CHECK(sum == Approx(run.time("total")).epsilon(0.001));
}

}  // namespace t3vp::test::loosely_timed_test
