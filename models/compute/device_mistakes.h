// What a kernel's program must not ask of its compute unit. Each is empty when nothing is wrong, else a text.
#pragma once

#include <string>

#include "t3/device.h"

namespace t3vp {

std::string mistake_of_plan(const t3_plan& plan);

/// How many workgroups of the kernel a compute unit has room for, with no other kernel's beside them.
std::uint32_t resident_workgroups(const t3_plan& plan, const t3_device& device);
/// The plan has so many of them for workgroups_per_cu.
std::string mistake_of_residency(const t3_plan& plan, const t3_device& device, std::uint32_t compute_units);
std::string mistake_of_agreements(const t3_kernel& kernel, const void* arguments);
std::string mistake_of_tile(const t3_tile& tile, std::uint32_t tiles);
std::string mistake_of_access(const t3_tile& tile, const t3_access& access, std::uint32_t tiles);
std::string mistake_of_product(const t3_product& product, std::uint32_t tiles);
std::string mistake_of_sum(const t3_tile& sum, const t3_tile& addend, std::uint32_t tiles);
std::string mistake_of_work(const t3_vector_work& work, std::uint32_t tiles);

}  // namespace t3vp
