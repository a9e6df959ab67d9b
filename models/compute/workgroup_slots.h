// The placement of a queue's workgroups: the compute units that it may use, its slots on them, and how many workgroups
// have started and finished.
#pragma once

#include <vector>

#include "compute/compute_units.h"
#include "compute/kernel_host.h"

namespace t3vp::compute {

class WorkgroupSlots {
 public:
  explicit WorkgroupSlots(ComputeUnits& units) : units_(units) {}

  /// The first compute units that are in the mask, `most` at most. Bit n of word w is compute unit 64 w + n.
  void choose_units(const std::vector<std::uint64_t>& mask, std::uint32_t most);
  std::uint32_t allowed_units() const;
  /// A kernel of this plan begins, which outlives its workgroups.
  void begin(const t3_plan& plan);
  /// No kernel runs any more: what its workgroups had is free.
  void clear();

  bool allows(std::uint32_t cu) const { return units_here_[cu].allowed; }
  /// Whether one more workgroup fits there.
  bool fits(std::uint32_t cu) const {
    return units_here_[cu].allowed && units_here_[cu].resident < plan_->workgroups_per_cu &&
           units_.room(cu, *plan_) != 0;
  }
  /// Whether all workgroups of the kernel fit.
  bool all_fit() const;
  /// The next workgroup starts on the compute unit, where it fits.
  Slot take(std::uint32_t cu);
  void give_back(Slot slot);

  std::uint32_t cu_of(Slot slot) const { return slot / plan_->workgroups_per_cu; }
  std::uint32_t started() const { return started_; }
  std::uint32_t finished() const { return finished_; }

 private:
  struct Unit {
    bool allowed = false;
    std::uint32_t resident = 0;  ///< workgroups of the kernel
  };

  ComputeUnits& units_;
  const t3_plan* plan_ = nullptr;  ///< null while no kernel runs
  std::vector<Unit> units_here_;   ///< by compute unit
  std::vector<bool> taken_;        ///< by slot
  std::uint32_t started_ = 0, finished_ = 0;
};

}  // namespace t3vp::compute
