// What a kernel packet must satisfy before it runs.
#pragma once

#include <string>

#include "compute/kernel_packet.h"
#include "compute/parameters.h"

namespace t3vp {

/// Empty when what every packet begins with can be believed, else what was found and what was expected.
std::string check_header(const KernelPacket& packet);

/// Empty when the packet can run on this GPU, else what was found and what was expected. The header is right.
/// `functional`: whether operands have data.
std::string check_operands(const KernelPacket& packet, const ComputeParameters& parameters, std::uint16_t gpu,
                           bool functional);

}  // namespace t3vp
