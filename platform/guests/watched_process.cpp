#include "guests/watched_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "guests/forwarded_signals.h"
#include "guests/guest_ends.h"
#include "guests/guest_limits.h"
#include "guests/guest_page.h"
#include "guests/signal_texts.h"
#include "guests/snapshots.h"
#include "io/console.h"
#include "io/exit_code.h"
#include "io/output_file.h"

namespace t3vp {
namespace {

using Milliseconds = std::chrono::milliseconds;

void remember_exit() { guest_page().left = true; }

/// In the process that simulates.
void begin_as_child(GuestPage& page, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(failed);  // the parent died before the line above
  page.is_watched = true;
  page.process = getpid();
}

/// The file that it runs; empty while it ends.
std::string program_of(pid_t process) {
  std::error_code none;
  return std::filesystem::read_symlink(fmt::format("/proc/{}/exe", process), none).string();
}

bool runs_another_program(pid_t process) {
  const std::string program = program_of(process);
  return !program.empty() && program != program_of(getpid());
}

/// How the simulating process has ended.
struct End {
  std::optional<LastLine> line;  ///< is printed
  int signal = 0;                ///< this process ends by it, too; 0: by an exit code
  int exit_code = failed;
  bool is_failure = false;  ///< of the run: nobody has ended it
};

End end_with(LastLine line) {
  const int exit_code = line.exit_code;
  return {std::move(line), 0, exit_code, exit_code == failed};
}

/// A parent's view of the process.
class Watch {
 public:
  /// `snapshots` is null where none are kept.
  Watch(GuestPage& page, pid_t child, int closed_at_exec, SnapshotKeeper* snapshots)
      : page_(page), child_(child), closed_at_exec_(closed_at_exec), snapshots_(snapshots), limits_(page) {}

  int exit_code() {
    End end = wait_for_end();
    std::optional<End> before;  // of the process whose snapshot goes on
    if (snapshots_ != nullptr && (end.is_failure || is_requested()) && go_on_from_snapshot()) {
      before = std::exchange(end, {});
      end = wait_for_end();
    }
    if (snapshots_ != nullptr) {
      snapshots_->clear();
      page_.partial_files.stay = false;
    }
    if (before && before->is_failure && end.signal == 0 && end.exit_code == success) end = not_repeated(*before);
    return finish(end);
  }

 private:
  End wait_for_end() {
    while (!is_over(limits_->interval())) {
      if (!page_.is_whole() || !page_.last_line.view().empty()) return end_soon();
      if (const auto line = limits_->look()) return end_by(*line);
      if (can_go_on()) {
        kill_child();
        return {};
      }
      if (!pipe_is_closed()) continue;
      if (is_over(Milliseconds(100))) break;
      if (runs_another_program(child_)) return end_by(line_of(" has called exec()"));
    }
    return end_of_process();
  }

  /// The user has asked for it, and there is a snapshot.
  bool can_go_on() {
    if (snapshots_ == nullptr || !is_requested()) return false;
    if (snapshots_->has_any()) return true;
    print_error("t3vp: SIGUSR1: there is no snapshot from which the run can go on");
    forget_request();
    return false;
  }

  bool go_on_from_snapshot() {
    const ResumedFor why{page_.simulated, is_requested()};
    forget_request();
    const std::optional<pid_t> process = snapshots_->resume(why);
    if (!process) return false;
    child_ = *process;
    forward_signals_to(child_);
    limits_.emplace(page_);
    is_closed_ = true;  // the snapshot does not hold the pipe
    return true;
  }

  static End not_repeated(const End& before) {
    return end_with({fmt::format("t3vp: the run has failed and its snapshot has not{}",
                                 before.line ? ": " + before.line->text : std::string()),
                     failed});
  }

  /// Waits until the process has ended, or for that time.
  bool is_over(std::chrono::duration<double> time) {
    const auto until = std::chrono::steady_clock::now() + time;
    for (;;) {
      if (waitpid(child_, &status_, WNOHANG) == child_) return true;
      const double left = std::chrono::duration<double>(until - std::chrono::steady_clock::now()).count();
      if (left <= 0 || is_requested()) return false;
      pollfd closed{closed_at_exec_, 0, 0};
      const auto ms = static_cast<int>(std::max(1.0, 1000 * left));
      if (is_closed_)
        poll(nullptr, 0, std::min(ms, 2));
      else if (poll(&closed, 1, ms) > 0)
        is_closed_ = true;
      else if (errno != EINTR)
        return waitpid(child_, &status_, WNOHANG) == child_;
    }
  }
  bool pipe_is_closed() const { return is_closed_; }

  void kill_child() {
    kill(child_, SIGKILL);
    while (waitpid(child_, &status_, 0) < 0 && errno == EINTR) continue;
  }

  End end_by(LastLine line) {
    kill_child();
    return end_with(std::move(line));
  }

  /// The process has reported its end, and may be a copy that vfork() has made.
  End end_soon() {
    if (!is_over(Milliseconds(200))) kill_child();
    return end_of_process();
  }

  /// Returns the last line for the guest that computes, or did last.
  LastLine line_of(std::string_view what) const {
    if (page_.is_library)
      return {fmt::format("{}{}{}", page_.library_begin.view(), what, page_.library_end.view()),
              page_.library_exit_code};
    if (page_.computes()) return {fmt::format("t3vp: {}{}", std::string_view(GuestName(page_)), what), failed};
    return {fmt::format("t3vp: a program, a kernel or a library{}", what), failed};
  }

  /// The end of a process that is over.
  End end_of_process() {
    if (!page_.is_whole())
      return end_with({"t3vp: a program or kernel has overwritten memory of the simulator", failed});
    if (const std::string_view line = page_.last_line.view(); !line.empty())
      return end_with({std::string(line), page_.last_exit_code});
    if (WIFSIGNALED(status_)) return end_by_signal(WTERMSIG(status_));
    if (snapshots_ != nullptr && snapshots_->is_left_to()) return {{}, 0, failed, true};
    if (page_.returned && page_.left) return {{}, 0, WEXITSTATUS(status_), false};
    return end_with(line_of(" has ended the process by _exit() or exec()"));
  }

  End end_by_signal(int number) {
    if (page_.computes() && !page_.is_foreign)
      for (const auto& [first, last] : {std::pair(std::begin(fault_texts), std::end(fault_texts)),
                                        std::pair(std::begin(raised_texts), std::end(raised_texts))})
        for (const SignalText* known = first; known != last; ++known)
          if (known->signal_number == number) return end_with(line_of(known->text));
    const bool is_told_fault = std::any_of(std::begin(fault_texts), std::end(fault_texts),
                                           [number](const SignalText& fault) { return fault.signal_number == number; });
    if (is_told_fault && page_.passes != 0)
      return end_with(
          {fmt::format("t3vp: the simulator has crashed by {}: a program or kernel may have damaged its memory; "
                       "the last to compute was {}",
                       std::string("SIG") + sigabbrev_np(number), std::string_view(GuestName(page_))),
           failed});
    return {{}, number, failed, is_told_fault};
  }

  static int finish(const End& end) {
    remove_partial_files();
    if (end.line) print_error(end.line->text);
    if (end.signal == 0) return end.exit_code;
    if (end.signal == SIGKILL)
      print_error(
          "t3vp: killed (SIGKILL): by the host, where memory or the processor's time is used up, or by another "
          "process");
    return end_likewise(end.signal);
  }

  /// Ends as the other process has ended, without a second core dump.
  static int end_likewise(int number) {
    const rlimit none{};
    setrlimit(RLIMIT_CORE, &none);
    signal(number, SIG_DFL);
    sigset_t all;
    sigemptyset(&all);
    sigprocmask(SIG_SETMASK, &all, nullptr);
    raise(number);
    return failed;
  }

  GuestPage& page_;
  pid_t child_;
  int closed_at_exec_;
  SnapshotKeeper* snapshots_;
  std::optional<GuestLimits> limits_;
  bool is_closed_ = false;
  int status_ = 0;
};

/// Maps a page that a parent and its child share. Null where that is not possible.
GuestPage* new_page() {
  void* const shared = mmap(nullptr, sizeof(GuestPage), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return shared == MAP_FAILED ? nullptr : new (shared) GuestPage;
}

void use_page(GuestPage& page) {
  use_guest_page(page);
  keep_partial_files_in(page.partial_files);
}

struct Pipe {
  int read_end, write_end;
};

/// None where there can be no pipe.
std::optional<Pipe> new_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  return Pipe{ends[0], ends[1]};
}

}  // namespace

std::optional<int> watch_from_outside(bool keeps_snapshots) {
  GuestPage* const page = new_page();
  const std::optional<Pipe> pipe = new_pipe();
  if (page == nullptr || !pipe) return std::nullopt;
  static std::optional<SnapshotKeeper> snapshots;  // the simulating process goes on with its copy
  if (keeps_snapshots) snapshots.emplace();
  use_page(*page);
  const pid_t parent = getpid(), child = fork();
  if (child <= 0) close(pipe->read_end);
  if (child == 0) {
    begin_as_child(*page, parent);
    std::atexit(&remember_exit);
    if (snapshots) snapshots->leave_in_simulation(pipe->write_end);
  }
  if (child <= 0) return std::nullopt;  // its end of the pipe stays open until it ends or calls exec()
  close(pipe->write_end);
  if (snapshots) snapshots->begin_to_keep();
  if (snapshots) take_requests();
  forward_signals(child);
  const int exit_code = Watch(*page, child, pipe->read_end, snapshots ? &*snapshots : nullptr).exit_code();
  page->process = parent;
  return exit_code;
}

namespace {

/// Both outputs go to the log, which is a new file.
void write_to(const std::filesystem::path& log) {
  unlink(log.c_str());
  const int file = open(log.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0 || dup2(file, STDOUT_FILENO) < 0 || dup2(file, STDERR_FILENO) < 0) _exit(failed);
  close(file);
}

/// In the copy's parent: returns in the copy alone.
void watch_copy(GuestPage& before) {
  GuestPage* const page = new_page();
  const std::optional<Pipe> pipe = new_pipe();
  if (page == nullptr || !pipe) _exit(failed);
  std::memcpy(static_cast<void*>(page), static_cast<const void*>(&before), sizeof before);
  const pid_t parent = getpid(), child = fork();
  if (child < 0) _exit(failed);
  if (child == 0) {
    // Everybody in this process knows the page by its address.
    if (mremap(page, sizeof *page, sizeof *page, MREMAP_MAYMOVE | MREMAP_FIXED, &before) == MAP_FAILED) _exit(failed);
    close(pipe->read_end);
    begin_as_child(before, parent);
    return;
  }
  close(pipe->write_end);
  use_page(*page);
  forward_signals(child);
  _exit(Watch(*page, child, pipe->read_end, nullptr).exit_code());
}

}  // namespace

pid_t start_watched_copy(const std::filesystem::path& log) {
  const pid_t caller = getpid(), watcher = fork();
  if (watcher < 0) throw std::runtime_error("no copy of the process: " + std::generic_category().message(errno));
  if (watcher > 0) return watcher;
  prctl(PR_SET_PDEATHSIG, SIGTERM);  // which it forwards to the copy, which removes its partial files
  if (getppid() != caller) _exit(failed);
  write_to(log);
  watch_copy(guest_page());
  return 0;
}

void tell_return() {
  require_own_process();
  guest_page().returned = true;
}

}  // namespace t3vp
