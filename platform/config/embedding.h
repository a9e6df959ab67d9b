#pragma once
#include "config/configuration.h"
#include "config/json_document.h"

namespace t3vp {

/// What the workload's embedding has from the rest of the run: seed, workgroups, GPUs of a node. Throws InputError for
/// an occupancy or a number of contexts that the system has no room for.
void complete_embedding(const Document& run, RunConfiguration& c);

/// With all defaults, as `--print-config` shows it.
nlohmann::json resolved_embedding(const Workload& workload);

}  // namespace t3vp
