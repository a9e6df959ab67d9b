// Checks of a system's links that no JSON Schema can express.
#pragma once

#include "config/configuration.h"
#include "io/json_document.h"

namespace t3vp {

/// Throws InputError about a key that the kind of topology does not have or lacks, about GPUs that do not fit, and
/// about links that do not carry what the workload sends.
void check_topology(const Document& run, const Document& system, const RunConfiguration& configuration);

}  // namespace t3vp
