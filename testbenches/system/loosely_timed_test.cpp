// memory.model loosely-timed beside exact: the same results, nearly the same times, and the laws of exact runs.
#include <catch2/catch.hpp>

#include <cmath>

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
