// What it takes to have the output zero before a fused kernel updates it.
#include <catch2/catch.hpp>

#include "system/platform_run.h"

using namespace t3vp::test;

namespace {

constexpr double dram_GBps = 4 * 32;  // of small-4: four channels of 32 bytes a cycle

Settings settings_of(const std::string& method, const Settings& more = {}) {
  return Settings{on_small_system(), "gpus=4", "method=" + method, "data=timing-only"} + more;
}

}  // namespace

TEST_CASE("zeroing writes the output once, as part of set-up, and no faster than the DRAM's peak") {
  const std::string method = GENERATE("t3", "t3-mca");
  const std::string element = GENERATE("fp16", "bf16", "fp32");
  CAPTURE(method, element);
  double previous_bytes = 0, previous_time = 0;
  for (const std::uint32_t m : {256u, 512u, 1024u}) {
    const Run run =
        Run::of_platform(settings_of(method, gemm(m, 256, 32) + Settings{"workload.gemm.element=" + element}));
    REQUIRE(run.exit_code() == 0);
    const double bytes = m * 256.0 * (element == "fp32" ? 4 : 2);
    CHECK(run.dram_bytes("setup") == bytes);
    CHECK(run.time("zeroing") >= bytes / dram_GBps);
    CHECK(run.time("zeroing") < run.time("setup"));
    if (previous_time != 0) {  // what more bytes cost has no latency in it
      const double more_time = run.time("zeroing") - previous_time, at_peak = (bytes - previous_bytes) / dram_GBps;
      CHECK(more_time >= at_peak);
      CHECK(more_time <= 1.5 * at_peak);
    }
    previous_bytes = bytes;
    previous_time = run.time("zeroing");
  }
}

TEST_CASE("what stores its output needs no zeroing, and the total has none of it") {
  for (const char* method : {"sequential", "ideal-overlap", "ideal-rs-nmc"})
    CHECK(Run::of_platform(settings_of(method)).time("zeroing") == 0);
  const Run run = Run::of_platform(settings_of("t3", {"system.links.bandwidth_GBps=100"}));
  REQUIRE(run.time("zeroing") > 0.1 * run.time("total"));
  CHECK(run.time("total") == Approx(run.time("fused") + run.time("all_gather")).epsilon(0.02));
}
