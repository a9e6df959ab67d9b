// Mutual exclusion of processes for a folder or a file. The lock is the operating system's (flock) and ends with the
// process, however the process ends.
#pragma once

#include <filesystem>
#include <optional>

namespace t3vp {

class FileLock {
 public:
  /// Waits until no other process has the folder. Where the file system knows no locks, there is nothing to wait for.
  static FileLock of_folder(const std::filesystem::path& folder);
  /// The lock of a file, which is created if need be; none while another process has it. Throws std::runtime_error when
  /// the file cannot be created.
  static std::optional<FileLock> try_file(const std::filesystem::path& file);

  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

 private:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
};

}  // namespace t3vp
