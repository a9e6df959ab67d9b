#include "io/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <set>
#include <stdexcept>
#include <streambuf>
#include <system_error>
#include <vector>

#include "io/console.h"

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

std::set<OutputFile*>& open_files() {
  static std::set<OutputFile*> files;
  return files;
}

void copy_path(const std::string& from, char (&to)[PartialFiles::longest + 1]) {
  std::memcpy(to, from.c_str(), std::min(from.size() + 1, sizeof to));
}

/// Nothing but what a handler of signals may do.
void put_in_place(PartialFiles::Kept& kept) {
  kept.partial[PartialFiles::longest] = kept.path[PartialFiles::longest] = kept.ending[PartialFiles::longest_ending] =
      '\0';  // whoever shares them may have written there
  const int file = open(kept.partial, O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file < 0) return;
  write_all(file, {kept.ending, std::strlen(kept.ending)});
  close(file);
  std::rename(kept.partial, kept.path);
}

void put_in_place(const std::string& partial) {
  for (PartialFiles::Kept& kept : partial_files.load()->kept)
    if (kept.is_there && partial == kept.partial && kept.is_there.exchange(false)) put_in_place(kept);
}

void forget_kept(const std::string& partial) {
  for (PartialFiles::Kept& kept : partial_files.load()->kept)
    if (kept.is_there && partial == kept.partial) kept.is_there = false;
}

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

  /// Returns 0, or what went wrong.
  int reopen(const char* path) {
    const int own = open(path, O_WRONLY | O_CLOEXEC);
    if (own < 0) return errno;
    if (ftruncate(own, written_) != 0 || lseek(own, written_, SEEK_SET) != written_) {
      const int error = errno;
      ::close(own);
      return error;
    }
    ::close(descriptor_);
    descriptor_ = own;
    return 0;
  }

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
    const auto bytes = static_cast<std::size_t>(pptr() - pbase());
    if (error_ == 0 && !write_all(descriptor_, {pbase(), bytes})) error_ = errno;
    written_ += static_cast<off_t>(bytes);
    restart();
    return error_ == 0 ? 0 : -1;
  }

 private:
  void restart() { setp(bytes_.data(), bytes_.data() + bytes_.size()); }

  int descriptor_;
  int error_ = 0;
  off_t written_ = 0;
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
  open_files().insert(this);
}

OutputFile::~OutputFile() {
  open_files().erase(this);
  if (partial_.empty() || partial_files.load()->stay) return;
  if (is_kept_) {
    buffer_->close();
    put_in_place(partial_);
    if (const int error = buffer_->error(); error != 0)
      print_error(fmt::format("t3vp: {}: {}", file_.string(), std::generic_category().message(error)));
  }
  unlink(partial_.c_str());
  forget_partial(partial_);
}

void OutputFile::complete() {
  buffer_->close();
  if (buffer_->error() != 0) fail(file_, buffer_->error());
  if (std::rename(partial_.c_str(), file_.c_str()) != 0) fail(file_, errno);
  open_files().erase(this);
  forget_kept(partial_);
  forget_partial(partial_);
  partial_.clear();
}

void OutputFile::keep(std::string_view ending) {
  stream_ << std::flush << std::unitbuf;
  is_kept_ = true;
  if (std::max(partial_.size(), file_.string().size()) > PartialFiles::longest ||
      ending.size() > PartialFiles::longest_ending)
    return;
  for (PartialFiles::Kept& kept : partial_files.load()->kept) {
    if (kept.is_there) continue;
    copy_path(partial_, kept.partial);
    copy_path(file_.string(), kept.path);
    kept.ending[ending.copy(kept.ending, PartialFiles::longest_ending)] = '\0';
    kept.is_there = true;
    return;
  }
}

void OutputFile::reopen_all() {
  for (OutputFile* const file : open_files())
    if (const int error = file->buffer_->reopen(file->partial_.c_str()); error != 0) fail(file->file_, error);
}

void write_text(const std::filesystem::path& file, std::string_view text) {
  OutputFile output(file);
  output.stream() << text;
  output.complete();
}

void keep_partial_files_in(PartialFiles& files) { partial_files = &files; }

void remove_partial_files() {
  PartialFiles& files = *partial_files;
  if (files.stay) return;
  for (PartialFiles::Kept& kept : files.kept)
    if (kept.is_there.exchange(false)) put_in_place(kept);
  for (const auto& remove : {&unlink, &rmdir})
    for (PartialFiles::Slot& slot : files.slots) {
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
