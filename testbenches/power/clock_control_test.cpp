// The clock that keeps to a power limit, beside the formula that it solves.
#include "power/clock_control.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace t3vp::test::clock_control_test {

using namespace power;

namespace {

constexpr double highest_GHz = 2;

PowerParameters parameters(double slope) {
  PowerParameters p;
  p.limit_W = 700;
  p.idle_W = 100;
  p.energy_clock_GHz = 1.5;
  p.voltage_slope = slope;
  p.clock_step_MHz = 10;
  p.lowest_clock_GHz = 0.3;
  return p;
}

/// Power of work that takes `W` at energy_clock_GHz, at another clock.
double power_at(const PowerParameters& p, double W, double GHz) {
  const double ratio = GHz / p.energy_clock_GHz, voltage = 1 - p.voltage_slope + p.voltage_slope * ratio;
  return W * ratio * voltage * voltage;
}

/// Work that takes `W` at energy_clock_GHz, window after window.
double settled(ClockControl& control, const PowerParameters& p, double W) {
  for (int window = 0; window < 3; ++window) control.end_window({power_at(p, W, control.GHz()), 0, 0});
  return control.GHz();
}

}  // namespace

TEST_CASE("steady work above the limit settles at the highest step of the clock that keeps to it") {
  for (const double W : {500.0, 650.0, 900.0, 2000.0}) {
    CAPTURE(W);
    const PowerParameters cubic = parameters(1), linear = parameters(0);
    ClockControl with_voltage(cubic, highest_GHz), without(linear, highest_GHz);
    const auto step_below = [](double GHz) { return std::floor(std::min(GHz, highest_GHz) * 100 + 1e-9) / 100; };
    CHECK(settled(with_voltage, cubic, W) == Approx(step_below(1.5 * std::cbrt(600 / W))));
    CHECK(settled(without, linear, W) == Approx(step_below(1.5 * 600 / W)));
  }
}

TEST_CASE("a settled clock stays, and one step more would break the limit") {
  for (const double slope : {0.0, 0.3, 1.0}) {
    CAPTURE(slope);
    const PowerParameters p = parameters(slope);
    ClockControl control(p, highest_GHz);
    const double GHz = settled(control, p, 777);
    CHECK(settled(control, p, 777) == GHz);
    CHECK(power_at(p, 777, GHz) <= 600);
    CHECK(power_at(p, 777, GHz + 0.01) > 600);
  }
}

TEST_CASE("work that takes just the limit keeps the highest clock, and a little more does not") {
  const PowerParameters p = parameters(1);
  ClockControl control(p, highest_GHz);
  control.end_window({600, 0, 0});
  CHECK(control.GHz() == highest_GHz);
  control.end_window({600.001, 0, 0});
  CHECK(control.GHz() == Approx(highest_GHz - 0.01));
}

TEST_CASE("memory's power leaves less to the lanes, and matrix and vector work count alike") {
  const PowerParameters p = parameters(0);
  ClockControl memory(p, highest_GHz), more(p, highest_GHz);
  memory.end_window({800, 0, 200});
  CHECK(memory.GHz() == Approx(highest_GHz * 400 / 800));
  more.end_window({300, 500, 200});
  CHECK(more.GHz() == memory.GHz());
}

TEST_CASE("a limit of matrix work's clock holds without a power limit, and its power rises no further above it") {
  PowerParameters p = parameters(0);
  p.matrix_clock_GHz = 1.6;
  ClockControl control(p, highest_GHz);
  CHECK(control.matrix_GHz() == 1.6);
  control.end_window({600, 0, 0});
  CHECK(control.GHz() == highest_GHz);
  control.end_window({1200, 0, 0});
  CHECK(control.GHz() == Approx(0.8));
  CHECK(control.matrix_GHz() == control.GHz());
}

TEST_CASE("after a window without work, and after a reset, the clock is the highest one") {
  const PowerParameters p = parameters(1);
  ClockControl control(p, highest_GHz);
  const double low = settled(control, p, 2000);
  CHECK(low < 1.1);
  control.end_window({});
  CHECK(control.GHz() == highest_GHz);
  settled(control, p, 2000);
  control.reset();
  CHECK(control.GHz() == highest_GHz);
}

TEST_CASE("no power lowers the clock below the lowest one") {
  const PowerParameters p = parameters(0);
  ClockControl control(p, highest_GHz);
  control.end_window({1e9, 0, 0});
  CHECK(control.GHz() == 0.3);
  control.end_window({0, 0, 5000});  // memory alone breaks the limit
  CHECK(control.GHz() == 0.3);
}

}  // namespace t3vp::test::clock_control_test
