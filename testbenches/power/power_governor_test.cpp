// The governor with work that takes the time of its clock.
#include "power/power_governor.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <map>

namespace t3vp::test::power_governor_test {

using namespace power;

namespace {

constexpr double highest_GHz = 2, flops_per_cycle = 1000;

PowerParameters parameters() {
  PowerParameters p;
  p.limit_W = 3;
  p.idle_W = 1;
  p.window = from_ns(10000);
  p.matrix_pJ_per_flop = 1;
  p.vector_pJ_per_operation = 4;
  p.memory_pJ_per_byte = 50;
  p.energy_clock_GHz = 1;
  p.voltage_slope = 1;
  p.clock_step_MHz = 1;
  p.lowest_clock_GHz = 0.1;
  return p;
}

struct Bench : sc_core::sc_module {
  explicit Bench(const PowerParameters& p)
      : sc_module(sc_core::sc_module_name("bench")), governor("power", p, highest_GHz, [this] { return moved; }) {}

  /// Products one after the other, each of 100 cycles.
  void multiply_for(double ns) {
    const Picoseconds end = now() + from_ns(ns);
    while (now() < end) {
      GHz = governor.begin(CoreWork::matrix, 100 * flops_per_cycle);
      flops += 100 * flops_per_cycle;
      wait_ns(100 / GHz);
    }
  }
  void wait_ns(double ns) { sc_core::sc_start(to_sc_time(from_ns(ns))); }
  double statistic(const std::string& asked) const {
    std::map<std::string, double> all;
    governor.visit_statistics(
        [&](const std::string& name, const std::string&, const std::string&, double value) { all[name] = value; });
    return all.at(asked);
  }

  PowerGovernor governor;
  double GHz = 0, flops = 0, moved = 0;
};

/// 1000 FLOP a cycle of 1 pJ are 1 W at 1 GHz, and go with the clock cubed. Two W are left.
const double settled_GHz = std::cbrt(2.0);

}  // namespace

TEST_CASE("a kernel runs at the highest clock for a window, and at that of the limit from then on") {
  Bench bench(parameters());
  bench.multiply_for(9900);
  CHECK(bench.GHz == highest_GHz);
  bench.multiply_for(20000);
  CHECK(bench.GHz == Approx(settled_GHz).margin(0.001));
  CHECK(bench.GHz <= settled_GHz);
  CHECK(bench.statistic("lowest_clock") == Approx(bench.GHz));
}

TEST_CASE("a second kernel behind an idle window begins at the highest clock, and one at once does not") {
  Bench bench(parameters());
  bench.multiply_for(30000);
  const double low = bench.GHz;
  bench.multiply_for(100);
  CHECK(bench.GHz == low);
  bench.wait_ns(200000);
  bench.multiply_for(100);
  CHECK(bench.GHz == highest_GHz);
  CHECK(bench.statistic("lowest_clock") == Approx(low));
}

TEST_CASE("a reset brings the highest clock and a new window, and energies go on") {
  Bench bench(parameters());
  bench.multiply_for(35000);
  const double joules = bench.governor.dynamic_joules();
  bench.governor.reset();
  CHECK(bench.governor.GHz() == highest_GHz);
  CHECK(bench.governor.dynamic_joules() == joules);
  bench.multiply_for(9900);
  CHECK(bench.GHz == highest_GHz);
  bench.multiply_for(2000);
  CHECK(bench.GHz < highest_GHz);
}

TEST_CASE("the power of DRAM's bytes leaves less to the lanes") {
  PowerParameters p = parameters();
  Bench bench(p);
  for (int window = 0; window < 4; ++window) {
    bench.moved += 10000 / 50.0 * 1000;  // 1 W for 10 us
    bench.multiply_for(10000);
  }
  CHECK(bench.GHz == Approx(1).margin(0.03));
}

TEST_CASE("energy is that of operations at their clock, of bytes and of the idle power") {
  PowerParameters p = parameters();
  p.limit_W = 100;
  Bench bench(p);
  bench.multiply_for(25000);
  bench.governor.begin(CoreWork::vector, 1000);
  bench.moved = 600;
  const double expected_pJ = (bench.flops + 4 * 1000) * highest_GHz * highest_GHz + 50 * 600;
  CHECK(bench.statistic("dynamic_energy") == Approx(expected_pJ * 1e-12));
  const double seconds = to_ns(now()) * 1e-9;
  CHECK(bench.statistic("energy") == Approx(expected_pJ * 1e-12 + 1 * seconds));
  CHECK(bench.statistic("mean_power") == Approx(expected_pJ * 1e-12 / seconds + 1));
  CHECK(bench.statistic("matrix_clock") == highest_GHz);
}

TEST_CASE("parameters that no power limit has are refused") {
  PowerParameters p = parameters();
  p.idle_W = 3;
  CHECK_THROWS_WITH(Bench(p), Catch::Contains("idle_W is 3, expected less than limit_W"));
}

}  // namespace t3vp::test::power_governor_test
