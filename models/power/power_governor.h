// Counts the energy of a GPU and sets the clock of its compute units, so that the average power of a window keeps to a
// limit. It is loosely timed: it looks when work begins, and has no events of its own.
#pragma once

#include <functional>

#include "power/clock_control.h"
#include "protocol/component.h"
#include "protocol/core_clock.h"
#include "protocol/units.h"

namespace t3vp::power {

class PowerGovernor : public sc_core::sc_module, public Component, public CoreClock {
 public:
  /// `highest_GHz` is the clock without a limit. `memory_bytes` returns the bytes that DRAM has moved so far. Throws
  /// ParameterError.
  PowerGovernor(const sc_core::sc_module_name& name, const PowerParameters& parameters, double highest_GHz,
                std::function<double()> memory_bytes);

  double begin(CoreWork work, double operations) override;
  double GHz() override;
  /// The clock is the highest one, and a window begins. Energies go on.
  void reset() override;

  /// Energy so far beyond the idle power, in J.
  double dynamic_joules() const;

  const char* group() const override { return "power"; }
  void visit_statistics(const StatisticVisitor& visit) const override;

 private:
  void end_windows();
  double memory_pJ() const { return parameters_.memory_pJ_per_byte * memory_bytes_(); }

  /// In pJ.
  struct Energy {
    double matrix = 0, vector = 0, memory = 0;
  };

  PowerParameters parameters_;
  ClockControl control_;
  std::function<double()> memory_bytes_;
  Picoseconds begin_ = 0;  ///< of the window
  Energy at_begin_, now_;  ///< memory's only at the windows' ends
  double lowest_GHz_;
  double flops_ = 0, flops_per_GHz_ = 0;  ///< of matrix work, for its mean clock
};

}  // namespace t3vp::power
