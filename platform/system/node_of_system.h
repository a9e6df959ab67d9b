// The parameters of a node of GPUs of a system.
#pragma once

#include "system/system_configuration.h"

namespace t3vp {

/// Returns the parameters of a node of so many GPUs, all of which are simulated.
NodeParameters node_of(const SystemConfiguration& system, std::uint32_t gpus);

/// Sets what the GPUs of a node know of their links. `gpus` counts those of the system, also where one stands for all.
void tell_gpus_of_links(const SystemConfiguration& system, std::uint32_t gpus, NodeParameters& node);

}  // namespace t3vp
