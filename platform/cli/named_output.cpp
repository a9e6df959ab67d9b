#include "cli/named_output.h"

#include <stdexcept>
#include <system_error>

#include "io/input_error.h"

namespace t3vp {

namespace fs = std::filesystem;

std::unique_ptr<OutputFile> named_output(const std::string& option, const fs::path& file) {
  if (file.empty()) return nullptr;
  const auto refuse = [&](const std::string& found) {
    throw InputError(option + " " + file.string(), found, "a file that can be written or replaced");
  };
  std::error_code error;
  const fs::file_status status = fs::symlink_status(file, error);
  if (fs::is_directory(status)) refuse("a folder");
  if (fs::exists(status) && !fs::is_regular_file(status)) refuse("a device or the like, in whose place no file is put");
  fs::remove(file, error);
  try {
    return std::make_unique<OutputFile>(file);
  } catch (const std::runtime_error& reason) {
    refuse(reason.what());
  }
  return nullptr;
}

}  // namespace t3vp
