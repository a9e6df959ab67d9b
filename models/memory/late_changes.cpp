#include "memory/memory_controller.h"

namespace t3vp::memory {
namespace {

unsigned number_of(const PolicyChoice& choice) { return static_cast<unsigned>(choice.policy->number); }

}  // namespace

void MemoryController::inject(const MemoryFaults& faults) {
  parameters_.faults = faults;
  faults_ = faults.any() ? std::make_unique<FaultyAccess>(faults) : nullptr;
}

void MemoryController::change_arbitration(const MemoryParameters& parameters, const PolicyChoice& from,
                                          const PolicyChoice& to) {
  const bool has_own_aging = registers.aging_ps.value() == aging_of(parameters_);
  parameters_.mca_bands = parameters.mca_bands;
  parameters_.mca_default_limit = parameters.mca_default_limit;
  parameters_.aging = parameters.aging;
  if (has_own_aging) registers.aging_ps.set(aging_of(parameters_));
  const bool is_in_force =
      static_cast<unsigned>(policy_number()) == number_of(from) && registers.arbitration.limit() == from.limit;
  if (is_in_force) {
    registers.arbitration.policy.set(static_cast<registers::MemoryController::Arbitration::Policy>(number_of(to)));
    registers.arbitration.limit.set(to.limit);
  }
  choose_policy();
}

}  // namespace t3vp::memory
