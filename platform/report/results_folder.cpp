#include "report/results_folder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <regex>
#include <set>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "io/input_error.h"
#include "io/input_file.h"
#include "workloads/registry.h"

namespace t3vp {
namespace {

namespace fs = std::filesystem;

/// Lists the buffers that the platform's own programs publish.
std::string buffer_names() {
  std::vector<std::string> names;
  for (const WorkloadKind* kind : workload_kinds())
    names.insert(names.end(), kind->buffers.begin(), kind->buffers.end());
  return fmt::format("{}", fmt::join(names, "|"));
}

/// What a run can call a file: report.json, trace.json, snapshot-registers.txt, gpu<0 to 255>.<buffer>.npy, and the
/// names of these while they are being written.
bool is_result(const std::string& name) {
  static const std::string gpu = "[0-9]|[1-9][0-9]|1[0-9][0-9]|2[0-4][0-9]|25[0-5]";
  static const std::regex result(fmt::format(
      R"((?:report\.json|trace\.json|snapshot-registers\.txt|gpu(?:{})\.(?:{})\.npy)(?:\.[0-9]+\.partial)?)", gpu,
      buffer_names()));
  return std::regex_match(name, result);
}

/// The results of any run; none when there is no such folder.
std::vector<fs::path> results_in(const fs::path& folder) {
  std::vector<fs::path> results;
  std::error_code none;
  if (!fs::is_directory(folder, none)) return results;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (is_result(entry.path().filename())) results.push_back(entry.path());
  return results;
}

/// The folder without links and with a slash in the end, whether it is there or not.
fs::path without_links(const fs::path& folder) {
  std::error_code error;
  const fs::path real = folder.empty() ? fs::current_path() : fs::weakly_canonical(fs::absolute(folder), error);
  return (error ? folder : real) / "";
}

}  // namespace

void prepare_folder(const fs::path& folder, const std::string& option) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error == std::errc::no_space_on_device) throw std::runtime_error(folder.string() + ": " + error.message());
  if (!fs::is_directory(folder, error) || access(folder.c_str(), W_OK) != 0)
    throw InputError(option + " " + folder.string(), "something that cannot be written", "a folder");
}

void require_apart(const Outputs& outputs) {
  using Identity = std::pair<dev_t, ino_t>;
  std::set<Identity> inputs;
  struct stat status {};
  for (const fs::path& file : files_read())
    if (stat(file.c_str(), &status) == 0) inputs.emplace(status.st_dev, status.st_ino);
  const auto require_no_input = [&](const fs::path& file) {
    if (stat(file.c_str(), &status) == 0 && inputs.count({status.st_dev, status.st_ino}) != 0)
      throw InputError(file.string(), "a file that this command reads and would replace or remove",
                       "results in other files than its inputs");
  };
  std::set<fs::path> places, result_folders;
  for (const fs::path& folder : outputs.result_folders) {
    for (const fs::path& file : results_in(folder)) require_no_input(file);
    result_folders.insert(without_links(folder));
  }
  for (const fs::path& file : outputs.files) {
    require_no_input(file);
    const fs::path folder = without_links(file.parent_path());
    const bool is_of_run = is_result(file.filename()) && result_folders.count(folder) != 0;
    if (is_of_run || !places.insert(folder / file.filename()).second)
      throw InputError(file.string(), "a file that this command would write or remove a second time",
                       "every result in a file of its own");
  }
}

void remove_earlier(const fs::path& file) {
  std::error_code error;
  const bool is_folder = fs::is_directory(fs::symlink_status(file, error));
  if (is_folder || (!fs::remove(file, error) && error))
    throw InputError(file.string(), is_folder ? "a folder" : "an earlier result that cannot be removed",
                     "a file that this command may write");
}

void remove_results(const fs::path& folder) {
  for (const fs::path& file : results_in(folder)) {
    std::error_code error;
    if (!fs::remove(file, error) && error)
      throw std::runtime_error(file.string() + ": an earlier result that cannot be removed: " + error.message());
  }
}

}  // namespace t3vp
