// Blocks of libraries, as `blocks` of a system file names them.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "io/json_document.h"
#include "system/gpu_parameters.h"

namespace t3vp {

/// Throws InputError about a library that cannot be read, and about a window that is taken.
std::vector<PluggedBlock> read_blocks(const Document& system);

/// Replaces the paths of the libraries in `blocks` of a system file: by absolute ones, or by their contents'
/// fingerprints.
void set_library_paths(nlohmann::json& system, const std::vector<PluggedBlock>& blocks);
void set_library_fingerprints(nlohmann::json& system, const std::vector<PluggedBlock>& blocks);

}  // namespace t3vp
