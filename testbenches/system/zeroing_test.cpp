// What it takes to have the output zero before a fused kernel updates it.
#include <catch2/catch.hpp>

#include "system/platform_run.h"
#include "system/reference_sum.h"
#include "t3/t3.h"
#include "t3/workloads/gemm.h"

namespace t3vp::test::zeroing_test {

namespace {

constexpr double dram_GBps = 4 * 32;  // of small-4: four channels of 32 bytes a cycle

Settings settings_of(const std::string& method, const Settings& more = {}) {
  return Settings{on_small_system(), "gpus=4", "method=" + method, "data=timing-only"} + more;
}

const std::string bits = "system.memory.valid_bits_KiB=4";

t3_status without_zeroing(const t3_hal* hal, const t3_run* run) {
  t3_gemm_workload w{};
  T3_TRY(t3_gemm_workload_of(run, &w));
  w.zero_output = false;
  unsigned char bytes[T3_GEMM_RUN_BYTES];
  t3_gemm_workload_to(&w, bytes);
  t3_run other = *run;
  other.arguments = bytes;
  return t3_run_fused(hal, &other);
}

}  // namespace

TEST_CASE("zeroing is part of set-up and writes the output once no faster than the DRAM's peak") {
  const std::string method = GENERATE("t3", "t3-mca");
  const std::string element = GENERATE("fp16", "bf16", "fp32");
  CAPTURE(method, element);
  double previous_bytes = 0, previous_time = 0;
  for (const std::uint32_t m : {128u, 256u, 512u}) {
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

TEST_CASE("what stores its output needs no zeroing and no total has any of it") {
  for (const char* method : {"sequential", "ideal-overlap", "ideal-rs-nmc"})
    CHECK(Run::of_platform(settings_of(method, gemm(128, 128, 32))).time("zeroing") == 0);
  const Run run = Run::of_platform(
      settings_of("t3", gemm(256, 256, 32) + Settings{"simulate=mirror", "system.links.bandwidth_GBps=100"}));
  REQUIRE(run.time("zeroing") > 0.1 * run.time("total"));
  CHECK(run.time("total") == Approx(run.time("fused") + run.time("all_gather")).epsilon(0.01));
}

TEST_CASE("memory full of NaN spoils the result of a fused kernel whose output nobody zeroes") {
  const Settings functional{on_small_system(), "gpus=4", "method=t3"};
  const Settings shape = gemm(200, 130, 32);
  const Run right = Run::of_platform(functional + shape);
  CHECK(right.exit_code() == 0);
  const Run run = Run::of_platform(configuration_of(functional + shape), {}, without_zeroing);
  CHECK(run.exit_code() == 1);
  CHECK(run.report()["functional"]["checked"] == true);
  CHECK(run.report()["functional"]["mismatches"] == run.report()["functional"]["elements"]);
}

TEST_CASE("with valid bits the results over NaN are exact for all fused methods and element types") {
  const std::string method = GENERATE("t3", "t3-mca");
  const Element element = GENERATE(Element::fp16, Element::bf16, Element::fp32);
  CAPTURE(method, name_of(element));
  for (const std::uint32_t gpus : {2u, 5u}) {
    CAPTURE(gpus);
    const Settings settings = Settings{on_small_system(),
                                       "gpus=" + std::to_string(gpus),
                                       "method=" + method,
                                       "check=all",
                                       std::string("workload.gemm.element=") + name_of(element),
                                       bits} +
                              gemm(190, 93, 32);
    const Run run = Run::of_platform(settings);
    CHECK(run.exit_code() == 0);
    CHECK(run.report()["functional"]["checked"] == true);
    const Comparison comparison = compare(run, gpus, element);
    CHECK(comparison.elements == std::size_t{gpus} * 190 * 93);
    CHECK(comparison.wrong == 0);
    CHECK(run.dram_bytes("setup") == 0);
    const Run timing = Run::of_platform(settings + Settings{"data=timing-only"});
    for (const char* time : {"total", "fused", "all_gather", "zeroing", "setup"})
      CHECK(timing.time(time) == run.time(time));
  }
}

TEST_CASE("valid bits replace the zeroing and the first update of 32 bytes by a write for a bit each") {
  const Settings shape = gemm(512, 320, 64);
  const Run zeroed = Run::of_platform(settings_of("t3", shape)),
            armed = Run::of_platform(settings_of("t3", shape + Settings{"system.memory.valid_bits_KiB=2"}));
  constexpr double bytes = 512 * 320 * 2, sectors = bytes / 32;
  CHECK(zeroed.dram_bytes("setup") == bytes);
  CHECK(armed.dram_bytes("setup") == 0);
  CHECK(armed.time("zeroing") < 0.2 * zeroed.time("zeroing"));
  CHECK(armed.time("zeroing") >= 2 * 50);  // registers: a range at least
  CHECK(armed.time("fused") <= zeroed.time("fused") * 1.01);
  CHECK(armed.time("fused") >= bytes * 3 / 4 / 4);  // what the links carry
  for (const char* traffic : {"gemm_write", "rs_write", "rs_read", "ag_write", "ag_read"})
    CHECK(armed.dram_bytes(traffic) == zeroed.dram_bytes(traffic));
  // A GPU updates all of its four chunks but the one that it sends at once, each twice.
  const auto count = [](const Run& run, const char* name) { return run.statistic(std::string("gpu1.dram.") + name); };
  CHECK(count(zeroed, "updates") == sectors * 6 / 4);
  CHECK(count(armed, "updates") == sectors * 3 / 4);
  CHECK(count(armed, "first_updates") == sectors * 3 / 4);
  CHECK(count(armed, "valid_bits") == sectors / 8);
  CHECK(count(zeroed, "valid_bits") == 0);
}

TEST_CASE("a run whose output needs more valid bits than there are is refused with both numbers") {
  const auto refusal = [](const Settings& settings) {
    try {
      configuration_of(settings);
      return std::string("not refused");
    } catch (const std::exception& error) {
      return std::string(error.what());
    }
  };
  const Settings run = settings_of("t3", gemm(512, 321, 64));  // rows of 672 bytes
  CHECK_THAT(refusal(run + Settings{"system.memory.valid_bits_KiB=1"}),
             Catch::Contains(
                 "/system/memory/valid_bits_KiB: found 1024 bytes of valid bits (--set), expected 0 or at least the "
                 "1344 that the output needs"));
  CHECK(refusal(run + Settings{"system.memory.valid_bits_KiB=2"}) == "not refused");
  CHECK(refusal(run + Settings{"method=sequential", "system.memory.valid_bits_KiB=1"}) == "not refused");
}

}  // namespace t3vp::test::zeroing_test
