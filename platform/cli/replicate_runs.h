// Further runs of a configuration with jitter, for `run --replicates`.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "config/configuration.h"
#include "report/results_folder.h"

namespace t3vp {

/// Adds the outputs of replicates 1 to `count` - 1: each in replicates/1, replicates/2, ... of the folder.
void add_replicates(Outputs& outputs, unsigned count, const std::filesystem::path& out);

/// Removes what replicates of earlier runs have left in the folder.
void remove_replicates(const std::filesystem::path& out);

/// Makes replicates 1 to `count` - 1, `jobs` at a time, with seeds behind the configuration's own.
/// `report` is replicate 0's, and gets `replicates`. Throws std::runtime_error, with the place of its log, about one
/// that fails.
void replicate(const RunConfiguration& configuration, unsigned count, unsigned jobs, const std::filesystem::path& out,
               nlohmann::ordered_json& report);

}  // namespace t3vp
