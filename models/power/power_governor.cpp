#include "power/power_governor.h"

#include <algorithm>
#include <utility>

#include "power/power_ranges.h"
#include "power/power_rules.h"
#include "protocol/checked_parameters.h"

namespace t3vp::power {

PowerGovernor::PowerGovernor(const sc_core::sc_module_name& name, const PowerParameters& parameters, double highest_GHz,
                             std::function<double()> memory_bytes)
    : sc_module(checked(name, parameters)),
      parameters_(parameters),
      control_(parameters, highest_GHz),
      memory_bytes_(std::move(memory_bytes)),
      lowest_GHz_(highest_GHz) {}

/// Windows without a look at the clock count as one long one.
void PowerGovernor::end_windows() {
  const Picoseconds length = (now() - begin_) / parameters_.window * parameters_.window;
  if (length == 0) return;
  now_.memory = memory_pJ();
  const auto watts = [&](double until, double from) { return (until - from) / static_cast<double>(length); };
  control_.end_window({watts(now_.matrix, at_begin_.matrix), watts(now_.vector, at_begin_.vector),
                       watts(now_.memory, at_begin_.memory)});
  lowest_GHz_ = std::min(lowest_GHz_, control_.GHz());
  at_begin_ = now_;
  begin_ += length;
}

double PowerGovernor::GHz() {
  end_windows();
  return control_.GHz();
}

double PowerGovernor::begin(CoreWork work, double operations) {
  end_windows();
  if (work == CoreWork::vector) {
    now_.vector += operations * parameters_.vector_pJ_per_operation * control_.energy_factor(control_.GHz());
    return control_.GHz();
  }
  const double GHz = control_.matrix_GHz();
  now_.matrix += operations * parameters_.matrix_pJ_per_flop * control_.energy_factor(GHz);
  flops_ += operations;
  flops_per_GHz_ += operations / GHz;
  return GHz;
}

void PowerGovernor::reset() {
  control_.reset();
  now_.memory = memory_pJ();
  at_begin_ = now_;
  begin_ = now();
}

double PowerGovernor::dynamic_joules() const { return (now_.matrix + now_.vector + memory_pJ()) * 1e-12; }

void PowerGovernor::visit_statistics(const StatisticVisitor& visit) const {
  const double seconds = to_ns(now()) * 1e-9, joules = dynamic_joules() + parameters_.idle_W * seconds;
  visit("energy", "J", "energy with the idle power", joules);
  visit("dynamic_energy", "J", "energy beyond the idle power", dynamic_joules());
  visit("mean_power", "W", "average power", seconds == 0 ? 0 : joules / seconds);
  visit("matrix_clock", "GHz", "mean clock of matrix work", flops_ == 0 ? 0 : flops_ / flops_per_GHz_);
  visit("lowest_clock", "GHz", "lowest clock of the compute units", lowest_GHz_);
}

}  // namespace t3vp::power
