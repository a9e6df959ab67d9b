// The compute units of a GPU: what workgroups share of them, and until when their lanes and ports are taken.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "compute/cluster_parameters.h"
#include "protocol/cause.h"
#include "protocol/units.h"
#include "t3/device.h"

namespace t3vp::compute {

class ComputeUnits {
 public:
  explicit ComputeUnits(const ComputeParameters& parameters)
      : parameters_(parameters),
        units_(parameters.compute_units, {0, 0, parameters.register_bytes, parameters.local_bytes, {}}) {}

  std::uint32_t count() const { return parameters_.compute_units; }

  /// The shares of the time that lanes are occupied: useful, of clipped tiles, of an uneven last round.
  using Shares = std::array<Cause::Share, 3>;
  /// Occupies matrix and vector lanes for `duration` as soon as they are free; returns the end.
  Picoseconds occupy(std::uint32_t cu, Picoseconds duration, const Shares& shares) {
    Unit& unit = units_[cu];
    unit.busy_until = std::max(unit.busy_until, now()) + duration;
    Cause cause = Cause::current();
    cause.follow(unit.cause);  // the work before, while it lasts
    cause.extend(unit.busy_until, shares, Part::matrix);
    unit.cause = std::move(cause);
    return unit.busy_until;
  }
  /// The cause of the end of what occupies the lanes.
  const Cause& cause_of(std::uint32_t cu) const { return units_[cu].cause; }

  /// Loaded data pass the port, one load after the other; returns when these have.
  Picoseconds pass_port(std::uint32_t cu, std::uint64_t bytes, double clock_GHz) {
    Picoseconds& until = units_[cu].port_until;
    until =
        std::max(until, now()) + cycle_time(static_cast<double>(bytes) / parameters_.port_bytes_per_cycle, clock_GHz);
    return until;
  }

  /// Returns how many more workgroups of such a kernel fit into registers and local memory.
  std::uint32_t room(std::uint32_t cu, const t3_plan& plan) const {
    const auto fit = [](std::uint32_t free, std::uint32_t each) {
      return each == 0 ? std::uint32_t{T3_WORKGROUPS_PER_CU_MAX} : free / each;
    };
    return std::min(fit(units_[cu].registers, plan.register_bytes), fit(units_[cu].local, plan.local_bytes));
  }
  void take(std::uint32_t cu, const t3_plan& plan) {
    units_[cu].registers -= plan.register_bytes;
    units_[cu].local -= plan.local_bytes;
  }
  void give_back(std::uint32_t cu, const t3_plan& plan) {
    units_[cu].registers += plan.register_bytes;
    units_[cu].local += plan.local_bytes;
  }

  /// Marks all lanes and ports as free.
  void free_lanes() {
    for (Unit& unit : units_) {
      unit.busy_until = unit.port_until = 0;
      unit.cause = {};
    }
  }

 private:
  struct Unit {
    Picoseconds busy_until, port_until;
    std::uint32_t registers, local;  ///< bytes that are free
    Cause cause;                     ///< of busy_until
  };
  ComputeParameters parameters_;
  std::vector<Unit> units_;
};

}  // namespace t3vp::compute
