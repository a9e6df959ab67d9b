// Files of results: they appear whole or not at all. What is written goes to a new file beside the old one, whose place
// it takes in the end; a symbolic link there is replaced, never followed.
#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>

namespace t3vp {

class OutputFile {
 public:
  /// Throws std::runtime_error with the reason when no file can be created there.
  explicit OutputFile(std::filesystem::path file);
  /// Removes what has not been completed.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  std::ostream& stream() { return stream_; }
  /// Puts the file in place. Throws std::runtime_error with the reason when not all of it could be written.
  void complete();

 private:
  class Buffer;

  std::filesystem::path file_;
  std::string partial_;
  std::unique_ptr<Buffer> buffer_;
  std::ostream stream_;
};

/// Replaces the file in one step. Throws std::runtime_error with the reason when it cannot.
void write_text(const std::filesystem::path& file, std::string_view text);

/// Paths of incomplete files, and of temporary files and folders. A signal handler, or a process that shares them,
/// finds them without a lock. Longer paths, and more files than fit, are not recorded.
struct PartialFiles {
  static constexpr std::size_t most = 16, longest = 4095;
  struct Slot {
    enum State { free, filling, filled };
    std::atomic<int> state{free};
    char path[longest + 1];
  };
  Slot slots[most];
};

/// From now on they are kept there.
void keep_partial_files_in(PartialFiles& files);

/// From now on the file, or the folder when it is empty, goes with the partial files, until it is forgotten.
void remember_partial(const std::string& path);
void forget_partial(const std::string& path);

/// Removes what is being written, for a process that is about to end. Safe in signal handlers and in any thread.
void remove_partial_files();

/// Writes everything to the descriptor; false, and errno says why, when that is not possible.
bool write_all(int descriptor, std::string_view text);

}  // namespace t3vp
