// The file of `run --variants`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "config/configuration.h"

namespace t3vp {

struct Variant {
  std::string name;
  RunConfiguration configuration;
  bool has_changes = false;
};

/// `run` and `settings` are those of the run, whose configuration is `base`. Throws InputError about a setting that
/// cannot change during a run, and about what the run itself would refuse.
std::vector<Variant> load_variants(const std::filesystem::path& file, const std::filesystem::path& run,
                                   const std::vector<std::string>& settings, const RunConfiguration& base);

}  // namespace t3vp
