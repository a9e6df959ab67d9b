// The parameters of a run for the hardware. Blocks receive parameters alone.
#pragma once

#include "config/configuration.h"
#include "system/gpu_parameters.h"

namespace t3vp {

/// The node of the run, with its injected faults.
NodeParameters node_parameters(const RunConfiguration& configuration);

}  // namespace t3vp
