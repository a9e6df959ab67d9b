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
  /// From now on the file has at once what is written, and comes into place however the process ends. A process that
  /// does not complete it has `ending` behind it, of at most 15 characters.
  void keep(std::string_view ending);
  bool is_kept() const { return is_kept_; }

  /// For a copy of the process, with whose other copy it shares the places in its files: opens all that are being
  /// written by their names, each as long as this process has written it. Throws std::runtime_error with the reason
  /// when that is not possible.
  static void reopen_all();

 private:
  class Buffer;

  std::filesystem::path file_;
  std::string partial_;
  std::unique_ptr<Buffer> buffer_;
  std::ostream stream_;
  bool is_kept_ = false;
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

  static constexpr std::size_t most_kept = 4, longest_ending = 15;
  /// An incomplete file that comes into place all the same.
  struct Kept {
    std::atomic<bool> is_there{false};
    char partial[longest + 1], path[longest + 1], ending[longest_ending + 1];
  };
  Kept kept[most_kept];

  std::atomic<bool> stay{false};  ///< a copy of the process may go on writing them, whatever becomes of the process
};

/// From now on they are kept there.
void keep_partial_files_in(PartialFiles& files);

/// From now on the file, or the folder when it is empty, goes with the partial files, until it is forgotten.
void remember_partial(const std::string& path);
void forget_partial(const std::string& path);

/// Removes what is being written, but puts kept files in place, for a process that is about to end. Does nothing while
/// the files stay. Safe in signal handlers and in any thread.
void remove_partial_files();

/// Writes everything to the descriptor; false, and errno says why, when that is not possible.
bool write_all(int descriptor, std::string_view text);

}  // namespace t3vp
