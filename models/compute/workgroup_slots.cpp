#include "compute/workgroup_slots.h"

#include <algorithm>

namespace t3vp::compute {

void WorkgroupSlots::choose_units(const std::vector<std::uint64_t>& mask, std::uint32_t most) {
  units_here_.assign(units_.count(), {});
  for (std::uint32_t cu = 0; cu < units_here_.size() && most != 0; ++cu) {
    if (cu / 64 >= mask.size() || (mask[cu / 64] >> cu % 64 & 1) == 0) continue;
    units_here_[cu].allowed = true;
    --most;
  }
}

std::uint32_t WorkgroupSlots::allowed_units() const {
  return static_cast<std::uint32_t>(
      std::count_if(units_here_.begin(), units_here_.end(), [](const Unit& unit) { return unit.allowed; }));
}

void WorkgroupSlots::begin(const t3_plan& plan) {
  plan_ = &plan;
  taken_.assign(std::size_t{units_.count()} * plan.workgroups_per_cu, false);
  started_ = finished_ = 0;
}

void WorkgroupSlots::clear() {
  for (std::uint32_t cu = 0; plan_ != nullptr && cu < units_here_.size(); ++cu)
    for (; units_here_[cu].resident != 0; --units_here_[cu].resident) units_.give_back(cu, *plan_);
  plan_ = nullptr;
}

bool WorkgroupSlots::all_fit() const {
  std::uint64_t room = 0;
  for (std::uint32_t cu = 0; cu < units_here_.size(); ++cu)
    if (units_here_[cu].allowed) room += std::min(plan_->workgroups_per_cu, units_.room(cu, *plan_));
  return room >= plan_->workgroups;
}

Slot WorkgroupSlots::take(std::uint32_t cu) {
  Slot slot = cu * plan_->workgroups_per_cu;
  while (taken_[slot]) ++slot;
  taken_[slot] = true;
  ++units_here_[cu].resident;
  ++started_;
  units_.take(cu, *plan_);
  return slot;
}

void WorkgroupSlots::give_back(Slot slot) {
  const std::uint32_t cu = cu_of(slot);
  taken_[slot] = false;
  --units_here_[cu].resident;
  ++finished_;
  units_.give_back(cu, *plan_);
}

}  // namespace t3vp::compute
