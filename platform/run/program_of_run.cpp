#include "run/program_of_run.h"

#include <algorithm>

#include "memory/arbitration.h"

namespace t3vp {
namespace {

/// Returns the workgroups of ring kernels, equal on all GPUs, so that they fit on the smallest one.
std::uint32_t ring_workgroups(const SystemConfiguration& system) {
  const auto of = [](const GpuParameters& p) {
    const std::uint32_t held = p.compute.compute_units * p.kernels.ring.workgroups_per_cu;
    return p.kernels.ring.workgroups == 0 ? held : std::min(held, p.kernels.ring.workgroups);
  };
  std::uint32_t workgroups = of(system);
  for (const OtherGpu& other : system.other_gpus) workgroups = std::min(workgroups, of(other.parameters));
  return workgroups;
}

}  // namespace

ProgramRun program_of_run(const RunConfiguration& configuration) {
  return {static_cast<std::uint32_t>(configuration.policy.policy->number), configuration.policy.limit,
          ring_workgroups(configuration.system), configuration.workload->packed_for(configuration)};
}

}  // namespace t3vp
