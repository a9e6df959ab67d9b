// A file of results that the user names by an option.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "io/output_file.h"

namespace t3vp {

/// None when no file is named. What a file of that name held is gone. Throws InputError when none can be written there.
std::unique_ptr<OutputFile> named_output(const std::string& option, const std::filesystem::path& file);

}  // namespace t3vp
