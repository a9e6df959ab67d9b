// The folder of a command's results.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace t3vp {

/// Creates the folder. Throws InputError when it cannot be created or written.
void prepare_folder(const std::filesystem::path& folder, const std::string& option = "--out");

/// What a command writes or removes.
struct Outputs {
  std::vector<std::filesystem::path> files;
  std::vector<std::filesystem::path> result_folders;  ///< of which remove_results() is called
};

/// A command calls it when it has read its inputs and before it writes anything. Throws InputError when one of its
/// outputs is one of files_read(), whatever links lead there, or is another output.
void require_apart(const Outputs& outputs);

/// Removes a file of an earlier call. Throws InputError about something else of that name.
void remove_earlier(const std::filesystem::path& file);

/// Removes report.json, trace.json and the arrays of an earlier run, so that they are not taken for results of a later
/// run. Also removes incomplete files of an earlier run. Other files stay. Throws std::runtime_error when it cannot.
void remove_results(const std::filesystem::path& folder);

}  // namespace t3vp
