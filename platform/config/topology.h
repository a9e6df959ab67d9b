// The links of a system file and what they join.
#pragma once

#include <nlohmann/json.hpp>

#include "config/configuration.h"
#include "config/json_document.h"

namespace t3vp {

/// `links` of a system, or of a tier of nodes, where what is left out is as `otherwise`. A topology that is a text is a
/// kind without keys.
LinkTier read_tier(const nlohmann::json& links, const interconnect::LinkParameters& otherwise);

/// Of the links; their ends are numbers of GPUs, or "switch0".
std::vector<LinkOverride> read_overrides(const nlohmann::json& links);

/// Throws InputError about a key that the kind does not have or lacks, and about GPUs that do not fit.
void check_topology(const Document& run, const Document& system, const RunConfiguration& configuration);

}  // namespace t3vp
