#include "io/input_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <system_error>

#include "io/input_error.h"

namespace t3vp {
namespace {

std::string reason_of(int error) {
  std::string reason = std::generic_category().message(error);
  reason.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(reason.front())));
  return reason;
}

std::string kind_of(mode_t mode) {
  return S_ISDIR(mode) ? "a folder" : S_ISFIFO(mode) ? "a pipe" : S_ISSOCK(mode) ? "a socket" : "a device";
}

std::set<std::filesystem::path> opened;

/// An input while it is open; its fault is empty when it can be read.
class InputFile {
 public:
  InputFile(const std::filesystem::path& file, std::uint64_t most_bytes)
      : descriptor_(open(file.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)) {
    struct stat status {};
    if (descriptor_ >= 0) opened.insert(file);
    if (descriptor_ < 0 || fstat(descriptor_, &status) != 0)
      fault_ = reason_of(errno);
    else if (!S_ISREG(status.st_mode))
      fault_ = kind_of(status.st_mode);
    else
      check_size(static_cast<std::uint64_t>(status.st_size), most_bytes);
  }
  ~InputFile() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& fault() const { return fault_; }

  std::string content() {
    std::string text(size_, '\0');
    std::size_t done = 0;
    while (done < size_ && fault_.empty()) {
      const ssize_t count = read(descriptor_, text.data() + done, size_ - done);
      if (count > 0)
        done += static_cast<std::size_t>(count);
      else if (count == 0)
        fault_ = "a file that shrinks while it is read";
      else if (errno != EINTR)
        fault_ = reason_of(errno);
    }
    return text;
  }

 private:
  void check_size(std::uint64_t size, std::uint64_t most_bytes) {
    char beyond = 0;
    if (size > most_bytes)
      fault_ = fmt::format("{} B, more than the {} B that are read", size, most_bytes);
    else if (const ssize_t count = pread(descriptor_, &beyond, 1, static_cast<off_t>(size)); count != 0)
      fault_ = count < 0 ? reason_of(errno) : "a file with more bytes than its size, as in /proc";
    size_ = static_cast<std::size_t>(size);
  }

  int descriptor_;
  std::size_t size_ = 0;
  std::string fault_;
};

}  // namespace

const std::set<std::filesystem::path>& files_read() { return opened; }

std::string input_fault(const std::filesystem::path& file, std::uint64_t most_bytes) {
  return InputFile(file, most_bytes).fault();
}

std::string read_input(const std::filesystem::path& file, const std::string& kind) {
  InputFile input(file, most_input_bytes);
  std::string text;
  if (input.fault().empty()) text = input.content();
  if (!input.fault().empty())
    throw InputError(file.string(), input.fault(), (kind.find_first_of("aeiou") == 0 ? "an " : "a ") + kind);
  return text;
}

}  // namespace t3vp
