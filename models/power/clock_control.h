// The clock that keeps to a power limit, from the power of the window before. Plain C++.
#pragma once

#include "power/power_parameters.h"

namespace t3vp::power {

/// Power of what works beside the idle power, in W.
struct WindowPower {
  double matrix = 0, vector = 0, memory = 0;
};

class ClockControl {
 public:
  /// `highest_GHz` is the clock without a limit.
  ClockControl(const PowerParameters& parameters, double highest_GHz)
      : parameters_(parameters), highest_GHz_(highest_GHz), GHz_(highest_GHz) {}

  double GHz() const { return GHz_; }
  /// The clock of matrix work, which may have a limit of its own.
  double matrix_GHz() const { return matrix_GHz(GHz_); }
  /// Energy of an operation at this clock over that at energy_clock_GHz.
  double energy_factor(double GHz) const;

  /// A window has ended, all of which ran at this clock. The next clock is the highest one at which the same work keeps
  /// to the limit. Operations per second are proportional to the clock, and those of memory stay.
  void end_window(const WindowPower& measured);
  void reset() { GHz_ = highest_GHz_; }

 private:
  double matrix_GHz(double GHz) const;
  /// Power at this clock over that at energy_clock_GHz, of the same work.
  double power_factor(double GHz) const { return GHz / parameters_.energy_clock_GHz * energy_factor(GHz); }

  PowerParameters parameters_;
  double highest_GHz_, GHz_;
};

}  // namespace t3vp::power
