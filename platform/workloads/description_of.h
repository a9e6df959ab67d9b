// Descriptions of workloads by their names.
#pragma once

#include <algorithm>

#include "workloads/descriptions.h"

namespace t3vp {

/// Returns the description of a room by its name: platform/workloads/<name>/<name>.arguments.json.
inline const WorkloadDescription& description_of(std::string_view name) {
  return *std::find_if(workload_descriptions.begin(), workload_descriptions.end(),
                       [&](const WorkloadDescription& d) { return d.name == name; });
}

}  // namespace t3vp
