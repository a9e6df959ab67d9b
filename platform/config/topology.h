// The topology of a system file's links.
#pragma once

#include <nlohmann/json.hpp>

#include "config/configuration.h"
#include "config/json_document.h"

namespace t3vp {

/// A text is a kind without keys. What a switch does not say of itself is as the links have it.
Topology read_topology(const nlohmann::json& value, const interconnect::LinkParameters& links);

/// Of the links; their ends are numbers of GPUs, or "switch0". What no link's end can be is switch 65535.
std::vector<LinkOverride> read_overrides(const nlohmann::json& links);

/// Throws InputError about a key that the kind does not have or lacks, and about GPUs that do not fit.
void check_topology(const Document& run, const Document& system, const RunConfiguration& configuration);

}  // namespace t3vp
