#include "power/clock_control.h"

#include <algorithm>

namespace t3vp::power {
namespace {
constexpr double rounding_W = 1e-9;  // of a power that is just the limit
}  // namespace

double ClockControl::energy_factor(double GHz) const {
  const double voltage = 1 + parameters_.voltage_slope * (GHz / parameters_.energy_clock_GHz - 1);
  return voltage * voltage;
}

double ClockControl::matrix_GHz(double GHz) const {
  return parameters_.matrix_clock_GHz == 0 ? GHz : std::min(GHz, parameters_.matrix_clock_GHz);
}

void ClockControl::end_window(const WindowPower& measured) {
  const double vector = measured.vector / power_factor(GHz_), matrix = measured.matrix / power_factor(matrix_GHz());
  const double left = parameters_.limit_W + rounding_W - parameters_.idle_W - measured.memory;
  const double lowest = std::min(parameters_.lowest_clock_GHz, highest_GHz_);
  for (std::uint32_t steps = 0;; ++steps) {
    GHz_ = std::max(highest_GHz_ - steps * parameters_.clock_step_MHz / 1000, lowest);
    if (GHz_ == lowest || vector * power_factor(GHz_) + matrix * power_factor(matrix_GHz()) <= left) return;
  }
}

}  // namespace t3vp::power
