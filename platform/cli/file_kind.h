// The kind of a JSON file, determined from its keys.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace t3vp {

/// Checks a run, system, memory, models or experiment file or a report, with every file it names. Returns what it is
/// ("run file"). The settings, as of `run` and `replay`, change a run or memory file; others take none. Throws
/// InputError.
std::string check_file(const std::filesystem::path& file, const std::vector<std::string>& settings = {});

}  // namespace t3vp
