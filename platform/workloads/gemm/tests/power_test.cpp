// Whole runs with a power limit (system.power).
#include <catch2/catch.hpp>
#include <cmath>

#include "system/kernel_runs.h"

namespace t3vp::test::gemm_power_test {
namespace {

/// A workgroup on each of the four compute units, with many K tiles.
Settings long_gemm() {
  return gemm(128, 128, 32768) + Settings{on_small_system(),   "gpus=1",           "method=ideal-overlap",
                                          "phases=[\"gemm\"]", "data=timing-only", "workload.gemm.tile=64x64"};
}

/// Memory costs nothing, and 1 W is left to the lanes.
Settings with_power(double pJ_per_flop, double slope) {
  return {R"(system.power={"limit_W": 2, "idle_W": 1, "window_us": 20, "memory_pJ_per_byte": 0, "energy_clock_GHz": 1,
             "clock_step_MHz": 1, "voltage_slope": )" +
          std::to_string(slope) + R"(, "matrix_pJ_per_flop": )" + std::to_string(pJ_per_flop) + "}"};
}

double statistic(const Run& run, const char* name) { return run.statistic(std::string("gpu0.power.") + name); }

}  // namespace

TEST_CASE("a limit that is never reached changes no time") {
  const double free = right_run(long_gemm()).time("gemm");
  CHECK(right_run(long_gemm() + with_power(1e-6, 1)).time("gemm") == free);
}

TEST_CASE("a long GEMM above the limit takes the time of the clock at which it keeps to it") {
  const double free = right_run(long_gemm()).time("gemm"), flops = 2.0 * 128 * 128 * 32768;
  const double W_of_1pJ = flops / free / 1000;  // at 1 GHz
  const Run linear = right_run(long_gemm() + with_power(2.5 / W_of_1pJ, 0));
  CHECK(linear.time("gemm") == Approx(2.5 * free).epsilon(0.05));
  CHECK(statistic(linear, "lowest_clock") == Approx(0.4).margin(0.04));
  const Run cubic = right_run(long_gemm() + with_power(2.5 / W_of_1pJ, 1));
  CHECK(cubic.time("gemm") == Approx(std::cbrt(2.5) * free).epsilon(0.05));
  CHECK(statistic(cubic, "dynamic_energy") <= 1.1 * cubic.time("gemm") * 1e-9);
}

TEST_CASE("power limits that cannot be are refused at their key") {
  CHECK_THAT(refusal_of(long_gemm() + Settings{R"(system.power={"limit_W": 2, "idle_W": 1})"}),
             Catch::Contains("/power/energy_clock_GHz: found nothing"));
  CHECK_THAT(refusal_of(long_gemm() + with_power(1, 1) + Settings{"system.power.idle_W=2"}),
             Catch::Contains("idle_W: found 2") && Catch::Contains("less than limit_W"));
}

}  // namespace t3vp::test::gemm_power_test
