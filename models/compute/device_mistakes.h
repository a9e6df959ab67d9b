// The rules for a program's calls to its compute unit.
#pragma once

#include <string>

#include "protocol/refusal.h"
#include "t3/device.h"

namespace t3vp::compute {

std::string text_of(const t3_tile& tile);

/// `memory_bytes`: of each GPU.
Refusal validate_plan(const t3_plan& plan, std::uint16_t gpu, std::uint64_t memory_bytes);

/// Returns how many workgroups of the kernel a compute unit holds without other kernels.
std::uint32_t resident_workgroups(const t3_plan& plan, const t3_device& device);
/// The plan has so many of them for workgroups_per_cu.
Refusal validate_residency(const t3_plan& plan, const t3_device& device, std::uint32_t compute_units);
/// Numbers and shapes of the call's tiles, and where it goes.
Refusal validate_call(const t3_call& call, const t3_plan& plan, std::uint16_t gpu);

}  // namespace t3vp::compute
