// What kind of file a JSON file is, told by its keys.
#pragma once

#include <filesystem>
#include <string>

namespace t3vp {

/// Checks a run, system, memory or models file or a report, with every file it names. Returns what it is ("run file").
/// Throws InputError.
std::string check_file(const std::filesystem::path& file);

}  // namespace t3vp
