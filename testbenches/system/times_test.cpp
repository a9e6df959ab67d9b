// What simulated time may and may not depend on.
#include <algorithm>
#include <catch2/catch.hpp>

#include "system/reference_sum.h"

namespace t3vp::test::times_test {

namespace {

const char* const methods[] = {"sequential", "t3", "t3-mca", "ideal-overlap", "ideal-rs-nmc"};

Settings five_gpus(const std::string& method) {
  return gemm(450, 330, 100) + Settings{on_small_system(), "gpus=5", "method=" + method};
}

}  // namespace

TEST_CASE("functional and timing-only runs take the same time and traffic") {
  for (const char* method : methods) {
    INFO(method);
    const auto figures = [&](const std::string& data) {
      const Run run = Run::of_platform(five_gpus(method) + Settings{"data=" + data});
      REQUIRE(run.exit_code() == 0);
      nlohmann::ordered_json report = run.report();
      for (const char* key : {"host", "functional", "data", "config_hash"}) report.erase(key);
      // Memory that the host holds for tensors is what the two differ in.
      auto& statistics = report["statistics"];
      statistics.erase(std::remove_if(statistics.begin(), statistics.end(),
                                      [](const auto& s) {
                                        const auto name = s["name"].template get<std::string>();
                                        return name.find(".dram.resident") != std::string::npos;
                                      }),
                       statistics.end());
      return report.dump(2);
    };
    REQUIRE(figures("functional") == figures("timing-only"));
  }
}

TEST_CASE("two runs of the program give the same report but for the host's figures") {
  for (const char* method : {"sequential", "t3-mca"}) {
    const auto report = [&] { return Run::of_program(five_gpus(method)).text_without({"host"}); };
    const std::string first = report();
    REQUIRE(first == report());
    REQUIRE(first.find("\"host\"") == std::string::npos);
    REQUIRE(first.find("\"time_ns\"") != std::string::npos);
  }
}

TEST_CASE("the program and the platform's interface tell the same") {
  REQUIRE(Run::of_program(five_gpus("t3")).text_without({"host"}) ==
          Run::of_platform(five_gpus("t3")).text_without({"host"}));
}

// Each collective moves 3/4 of 1024 x 768 elements at 4 GB/s, and products take 2 m n k operations of the matrix units.
// Launches, latencies, first loads and last stores are less than 6% of it.
TEST_CASE("overlap in hardware beats one after the other, and not the ideal") {
  const auto total = [](const std::string& method) {
    return Run::of_platform(gemm(1024, 768, 512) +
                            Settings{on_small_system(), "method=" + method, "data=timing-only", "simulate=mirror"})
        .time("total");
  };
  const double sequential = total("sequential"), t3 = total("t3"), mca = total("t3-mca"), ideal = total("ideal-rs-nmc");
  const double collective = 1024 * 768 * 2 * 0.75 / 4, products = 2.0 * 1024 * 768 * 512 / (4 * 1024 * 0.75);
  const auto is_just_above = [](double time, double least) {
    REQUIRE(time >= least);
    REQUIRE(time <= 1.06 * least);
  };
  is_just_above(sequential, products + 2 * collective);
  for (const double overlapped : {t3, mca, ideal}) is_just_above(overlapped, 2 * collective);
  REQUIRE(t3 > ideal);
  REQUIRE(mca > ideal);
}

// T3 forwards tile by tile, so that link latencies and first loads hide behind transfers. The isolated kernel has them
// in each of its steps. In a GEMM that is much shorter than its collective, this is the only difference between them.
TEST_CASE("the ideal of isolated phases is no bound: T3 beats it where a short GEMM hides the ring's latencies") {
  const auto run = [](const std::string& method) {
    return Run::of_platform(gemm(512, 512, 32) + Settings{"method=" + method, "data=timing-only"});
  };
  const Run t3 = run("t3"), ideal = run("ideal-rs-nmc");
  CHECK(t3.time("fused") < ideal.time("reduce_scatter"));
  CHECK(t3.time("total") < ideal.time("total"));
  CHECK(ideal.report().value("isolated_phases", false));
  CHECK_FALSE(t3.report().contains("isolated_phases"));
}

TEST_CASE("a time in which nothing happens is passed over, however long") {
  const Settings settings{on_small_system(), "data=timing-only"};
  const Run quick = Run::of_platform(settings),
            slow = Run::of_platform(settings + Settings{"system.compute.launch_latency_ns=1000000"});
  REQUIRE(slow.exit_code() == 0);
  REQUIRE(slow.time("gemm") - quick.time("gemm") == Approx(1'000'000 - 1'000));
}

}  // namespace t3vp::test::times_test
