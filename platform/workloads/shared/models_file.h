// Transformers by their names (T3 Table 2).
#pragma once

#include "io/json_document.h"

namespace t3vp {

/// Tokens that a run may have.
inline constexpr std::uint64_t most_tokens = 1 << 20;

/// The models file that a run file names, or the one that is built in; schema checked.
Document models_of(const Document& run);

/// The entry of `choices` that /workload/<key> names.
const nlohmann::json& chosen(const Document& run, const std::string& key, const nlohmann::json& choices);

}  // namespace t3vp
