// A file of results that the user names by an option.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "io/output_file.h"

namespace t3vp {

/// Returns null when no file is named. The contents of an existing file are lost. Throws InputError when the file
/// cannot be written.
std::unique_ptr<OutputFile> named_output(const std::string& option, const std::filesystem::path& file);

}  // namespace t3vp
