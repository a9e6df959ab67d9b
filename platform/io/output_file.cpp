#include "io/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <streambuf>
#include <system_error>
#include <vector>

namespace t3vp {
namespace {

PartialFiles own_partial_files;
std::atomic<PartialFiles*> partial_files{&own_partial_files};
static_assert(std::atomic<int>::is_always_lock_free);

}  // namespace

void remember_partial(const std::string& path) {
  if (path.size() > PartialFiles::longest) return;
  for (PartialFiles::Slot& slot : partial_files.load()->slots) {
    int state = PartialFiles::Slot::free;
    if (!slot.state.compare_exchange_strong(state, PartialFiles::Slot::filling)) continue;
    std::memcpy(slot.path, path.c_str(), path.size() + 1);
    slot.state = PartialFiles::Slot::filled;
    return;
  }
}

void forget_partial(const std::string& path) {
  for (PartialFiles::Slot& slot : partial_files.load()->slots)
    if (slot.state == PartialFiles::Slot::filled && path == slot.path) slot.state = PartialFiles::Slot::free;
}

namespace {

[[noreturn]] void fail(const std::filesystem::path& file, int error) {
  throw std::runtime_error(file.string() + ": " + std::generic_category().message(error));
}

}  // namespace

/// A stream's buffer over a descriptor that remembers why it failed.
class OutputFile::Buffer : public std::streambuf {
 public:
  explicit Buffer(int descriptor) : descriptor_(descriptor), bytes_(std::size_t{1} << 16) { restart(); }
  ~Buffer() override { close(); }

  int error() const { return error_; }

  /// Nothing more can be written.
  void close() {
    if (descriptor_ < 0) return;
    sync();
    if (::close(descriptor_) != 0 && error_ == 0) error_ = errno;
    descriptor_ = -1;
  }

 protected:
  int_type overflow(int_type character) override {
    if (sync() != 0) return traits_type::eof();
    if (traits_type::eq_int_type(character, traits_type::eof())) return traits_type::not_eof(character);
    return sputc(traits_type::to_char_type(character));
  }

  int sync() override {
    if (error_ == 0 && !write_all(descriptor_, {pbase(), static_cast<std::size_t>(pptr() - pbase())})) error_ = errno;
    restart();
    return error_ == 0 ? 0 : -1;
  }

 private:
  void restart() { setp(bytes_.data(), bytes_.data() + bytes_.size()); }

  int descriptor_;
  int error_ = 0;
  std::vector<char> bytes_;
};

OutputFile::OutputFile(std::filesystem::path file)
    : file_(std::move(file)), partial_(fmt::format("{}.{}.partial", file_.string(), getpid())), stream_(nullptr) {
  remember_partial(partial_);  // before it is there: a signal may come at any time
  unlink(partial_.c_str());    // of a process that had our number
  const int descriptor = open(partial_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    const int error = errno;
    forget_partial(partial_);
    fail(file_, error);
  }
  buffer_ = std::make_unique<Buffer>(descriptor);
  stream_.rdbuf(buffer_.get());
}

OutputFile::~OutputFile() {
  if (partial_.empty()) return;
  unlink(partial_.c_str());
  forget_partial(partial_);
}

void OutputFile::complete() {
  buffer_->close();
  if (buffer_->error() != 0) fail(file_, buffer_->error());
  if (std::rename(partial_.c_str(), file_.c_str()) != 0) fail(file_, errno);
  forget_partial(partial_);
  partial_.clear();
}

void write_text(const std::filesystem::path& file, std::string_view text) {
  OutputFile output(file);
  output.stream() << text;
  output.complete();
}

void keep_partial_files_in(PartialFiles& files) { partial_files = &files; }

void remove_partial_files() {
  for (const auto& remove : {&unlink, &rmdir})
    for (PartialFiles::Slot& slot : partial_files.load()->slots) {
      slot.path[PartialFiles::longest] = '\0';  // whoever shares them may have written there
      if (slot.state == PartialFiles::Slot::filled) remove(slot.path);
    }
}

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(descriptor, text.data(), text.size());
    if (count >= 0) {
      text.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN) {
      pollfd ready{descriptor, POLLOUT, 0};
      poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

}  // namespace t3vp
