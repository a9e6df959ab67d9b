// Where a command puts its results.
#pragma once

#include <filesystem>
#include <string>

namespace t3vp {

/// Creates the folder. Throws InputError when it cannot be created or written.
void prepare_folder(const std::filesystem::path& folder, const std::string& option = "--out");

/// Removes report.json, trace.json and the arrays of an earlier run, so that nobody takes them for those of a run that
/// leaves none, and what an earlier run broke off writing. Throws std::runtime_error when it cannot.
void remove_results(const std::filesystem::path& folder);

}  // namespace t3vp
