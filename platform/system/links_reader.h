// The links of a system file and what they join.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "system/system_configuration.h"

namespace t3vp {

/// `links` of a system, or of a tier of nodes, where what is left out is as `otherwise`. A topology that is a text is a
/// kind without keys.
LinkTier read_tier(const nlohmann::json& links, const interconnect::LinkParameters& otherwise);

/// Overrides of single links. An end is the number of a GPU, or "switch0".
std::vector<LinkOverride> read_overrides(const nlohmann::json& links);

}  // namespace t3vp
