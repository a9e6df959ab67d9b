#include "io/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace t3vp {
namespace {

/// False when another process has the lock.
bool lock(int descriptor, int operation) {
  while (flock(descriptor, operation) != 0)
    if (errno != EINTR) return errno != EWOULDBLOCK;
  return true;
}

}  // namespace

FileLock FileLock::of_folder(const std::filesystem::path& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor >= 0) lock(descriptor, LOCK_EX);
  return FileLock(descriptor);
}

std::optional<FileLock> FileLock::try_file(const std::filesystem::path& file) {
  const int descriptor = open(file.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (descriptor < 0) throw std::runtime_error(file.string() + ": " + std::generic_category().message(errno));
  FileLock taken(descriptor);
  if (!lock(descriptor, LOCK_EX | LOCK_NB)) return {};
  return taken;
}

FileLock::FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

FileLock::~FileLock() {
  if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace t3vp
