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
#include <string>
#include <system_error>
#include <utility>

#include "guests/guest_ends.h"
#include "guests/guest_limits.h"
#include "guests/guest_page.h"
#include "guests/signal_texts.h"
#include "io/console.h"
#include "io/exit_code.h"
#include "io/output_file.h"

namespace t3vp {
namespace {

using Milliseconds = std::chrono::milliseconds;

std::atomic<pid_t> child_process{0};

bool is_fault(int signal_number) {
  return signal_number == SIGSEGV || signal_number == SIGBUS || signal_number == SIGFPE || signal_number == SIGILL ||
         signal_number == SIGTRAP || signal_number == SIGSYS;
}

/// The kernel sends these to all processes of the terminal, to the child as well.
bool is_of_terminal(int signal_number) {
  return signal_number == SIGINT || signal_number == SIGQUIT || signal_number == SIGHUP;
}

/// Forwards a signal of another process or of a timer to the child, whose end ends this process.
extern "C" void forward(int signal_number, siginfo_t* info, void*) {
  const bool is_of_kernel = info->si_code > 0, is_own = !is_of_kernel && info->si_pid == getpid();
  if (is_own || (is_of_kernel && is_fault(signal_number))) {
    signal(signal_number, SIG_DFL);
    raise(signal_number);
  } else if (is_of_kernel ? !is_of_terminal(signal_number) : info->si_pid != child_process) {
    kill(child_process, signal_number);
  }
}

/// Every signal that ends a process by default and can be handled.
bool is_forwarded(int signal_number) {
  switch (signal_number) {
    case SIGKILL:
    case SIGPIPE:  // of what this process writes itself
    case SIGSTOP:
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
    case SIGCHLD:
    case SIGCONT:
    case SIGURG:
    case SIGWINCH:
      return false;
    default:
      return signal_number < __SIGRTMIN || signal_number >= SIGRTMIN;  // libc keeps those between
  }
}

void forward_signals() {
  struct sigaction action {};
  action.sa_sigaction = &forward;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  for (int number = 1; number <= SIGRTMAX; ++number) {
    struct sigaction before {};
    if (!is_forwarded(number) || sigaction(number, nullptr, &before) != 0) continue;
    if (before.sa_handler != SIG_IGN) sigaction(number, &action, nullptr);
  }
}

void remember_exit() { guest_page().left = true; }

/// In the process that simulates.
void begin_as_child(GuestPage& page, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(failed);  // the parent died before the line above
  page.is_watched = true;
  page.process = getpid();
  std::atexit(&remember_exit);
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

/// A parent's view of the process.
class Watch {
 public:
  Watch(GuestPage& page, pid_t child, int closed_at_exec)
      : page_(page), child_(child), closed_at_exec_(closed_at_exec), limits_(page) {}

  int exit_code() {
    while (!is_over(limits_.interval())) {
      if (!page_.is_whole() || !page_.last_line.view().empty()) return end_soon();
      if (const auto line = limits_.look()) return end(*line);
      if (!pipe_is_closed()) continue;
      if (is_over(Milliseconds(100))) break;
      if (runs_another_program(child_)) return end_for_exec();
    }
    return told();
  }

 private:
  /// Waits until the process has ended, or for that time.
  bool is_over(std::chrono::duration<double> time) {
    const auto until = std::chrono::steady_clock::now() + time;
    for (;;) {
      if (waitpid(child_, &status_, WNOHANG) == child_) return true;
      const double left = std::chrono::duration<double>(until - std::chrono::steady_clock::now()).count();
      if (left <= 0) return false;
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

  int end(const LastLine& line) {
    kill_child();
    return tell(line);
  }

  /// The process has reported its end, and may be a copy that vfork() has made.
  int end_soon() {
    if (!is_over(Milliseconds(200))) kill_child();
    return told();
  }

  int end_for_exec() {
    kill_child();
    return tell(line_of(" has called exec()"));
  }

  int tell(const LastLine& line) {
    remove_partial_files();
    print_error(line.text);
    return line.exit_code;
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
  int told() {
    if (!page_.is_whole()) return tell({"t3vp: a program or kernel has overwritten memory of the simulator", failed});
    if (const std::string_view line = page_.last_line.view(); !line.empty())
      return tell({std::string(line), page_.last_exit_code});
    if (WIFSIGNALED(status_)) return told_signal(WTERMSIG(status_));
    if (page_.returned && page_.left) return WEXITSTATUS(status_);
    return tell(line_of(" has ended the process by _exit() or exec()"));
  }

  int told_signal(int number) {
    if (page_.computes() && !page_.is_foreign)
      for (const auto& [first, last] : {std::pair(std::begin(fault_texts), std::end(fault_texts)),
                                        std::pair(std::begin(raised_texts), std::end(raised_texts))})
        for (const SignalText* known = first; known != last; ++known)
          if (known->signal_number == number) return tell(line_of(known->text));
    const bool is_told_fault = std::any_of(std::begin(fault_texts), std::end(fault_texts),
                                           [number](const SignalText& fault) { return fault.signal_number == number; });
    remove_partial_files();
    if (is_told_fault && page_.passes != 0)
      return tell(
          {fmt::format("t3vp: the simulator has crashed by {}: a program or kernel may have damaged its memory; "
                       "the last to compute was {}",
                       std::string("SIG") + sigabbrev_np(number), std::string_view(GuestName(page_))),
           failed});
    if (number == SIGKILL)
      print_error(
          "t3vp: killed (SIGKILL): by the host, where memory or the processor's time is used up, or by another "
          "process");
    return end_likewise(number);
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
  GuestLimits limits_;
  bool is_closed_ = false;
  int status_ = 0;
};

}  // namespace

std::optional<int> watch_from_outside() {
  void* const shared = mmap(nullptr, sizeof(GuestPage), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  int ends[2];
  if (shared == MAP_FAILED || pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  auto* const page = new (shared) GuestPage;
  use_guest_page(*page);
  keep_partial_files_in(page->partial_files);
  const pid_t parent = getpid(), child = fork();
  if (child <= 0) close(ends[0]);
  if (child == 0) begin_as_child(*page, parent);
  if (child <= 0) return std::nullopt;  // its end of the pipe stays open until it ends or calls exec()
  close(ends[1]);
  child_process = child;
  forward_signals();
  const int exit_code = Watch(*page, child, ends[0]).exit_code();
  page->process = parent;
  return exit_code;
}

void tell_return() {
  require_own_process();
  guest_page().returned = true;
}

}  // namespace t3vp
