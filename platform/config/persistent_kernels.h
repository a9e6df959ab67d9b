#pragma once
#include "config/configuration.h"
#include "config/json_document.h"

namespace t3vp {

/// What workloads of persistent kernels have from the rest of the run: workgroups, seed, GPUs of a node. Throws
/// InputError for an occupancy or a number of contexts that the system has no room for.
void complete_persistent_kernels(const Document& run, RunConfiguration& c);

/// With all defaults, as `--print-config` shows it.
nlohmann::json resolved_embedding(const Workload& workload);

}  // namespace t3vp
