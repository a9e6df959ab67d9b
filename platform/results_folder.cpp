#include "platform/results_folder.h"

#include <unistd.h>

#include <regex>
#include <stdexcept>
#include <system_error>

#include "platform/input_error.h"

namespace t3vp {

namespace fs = std::filesystem;

void prepare_folder(const fs::path& folder, const std::string& option) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error == std::errc::no_space_on_device) throw std::runtime_error(folder.string() + ": " + error.message());
  if (!fs::is_directory(folder, error) || access(folder.c_str(), W_OK) != 0)
    throw InputError(option + " " + folder.string(), "something that cannot be written", "a folder");
}

void remove_results(const fs::path& folder) {
  static const std::regex result(R"((report\.json|trace\.json|gpu[0-9]+\..+\.npy)(\.[0-9]+\.partial)?)");
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    std::error_code error;
    if (!std::regex_match(entry.path().filename().string(), result) || fs::remove(entry.path(), error)) continue;
    throw std::runtime_error(entry.path().string() + ": an earlier result that cannot be removed: " + error.message());
  }
}

}  // namespace t3vp
