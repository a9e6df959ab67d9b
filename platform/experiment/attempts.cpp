#include "experiment/attempts.h"

#include <fmt/format.h>

#include <fstream>

#include "io/output_file.h"

namespace t3vp {
namespace {

std::filesystem::path file_in(const std::filesystem::path& folder) { return folder / "attempts"; }

}  // namespace

unsigned Attempts::made(std::size_t run, const std::filesystem::path& folder) const {
  if (submission_.empty()) {
    const auto found = made_.find(run);
    return found == made_.end() ? 0 : found->second;
  }
  std::ifstream file(file_in(folder));
  std::string submission;
  unsigned count = 0;
  return file >> submission >> count && submission == submission_ ? count : 0;
}

void Attempts::begin(std::size_t run, const std::filesystem::path& folder) {
  const unsigned count = made(run, folder) + 1;
  made_[run] = count;
  if (!submission_.empty()) write_text(file_in(folder), fmt::format("{} {}\n", submission_, count));
}

}  // namespace t3vp
