// What a kernel packet must satisfy before it runs.
#pragma once

#include <string>

#include "compute/kernel_packet.h"
#include "compute/parameters.h"

namespace t3vp {

/// Empty when the packet can run, else what was found and what was expected. `functional`: whether operands have data.
std::string check_packet(const KernelPacket& packet, const ComputeParameters& parameters, bool functional);

}  // namespace t3vp
