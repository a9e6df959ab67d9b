// The rules for a program's calls on shared memory: fetch-and-adds, reads, writes and polls of real bytes.
#pragma once

#include <cstdint>

#include "protocol/refusal.h"
#include "t3/device.h"

namespace t3vp::compute {

Refusal validate_shared(const t3_call& call, const t3_plan& plan, std::uint16_t gpu);

}  // namespace t3vp::compute
