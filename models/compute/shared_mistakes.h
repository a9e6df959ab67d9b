// What a kernel's program must not ask for in memory that it shares: fetch-and-adds, reads, writes and polls of real
// bytes.
#pragma once

#include <cstdint>
#include <string>

#include "t3/device.h"

namespace t3vp::compute {

/// Empty when nothing is wrong, else a text.
std::string validate_shared(const t3_call& call, const t3_plan& plan, std::uint16_t gpu);

}  // namespace t3vp::compute
