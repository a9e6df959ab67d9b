#include "run/firmware_guard.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string_view>

#include "report/console.h"
#include "report/exit_code.h"
#include "report/output_file.h"

namespace t3vp {
namespace {

std::atomic<const Pulse*> guarded{nullptr};

/// Whose firmware the host runs just now; null when it runs the platform.
const Pulse* running() {
  const Pulse* pulse = guarded.load();
  return pulse != nullptr && pulse->passes.load() % 2 == 1 ? pulse : nullptr;
}

/// Nothing but what a handler of signals may do.
[[noreturn]] void end_run(const Pulse& pulse, std::string_view what) {
  remove_partial_files();
  if (pulse.library) {
    for (const std::string_view part :
         {std::string_view(pulse.library->begin), what, std::string_view(pulse.library->end), std::string_view("\n")})
      write_all(STDERR_FILENO, part);
    end_process(pulse.library->exit_code);
  }
  for (const std::string_view part :
       {std::string_view("t3vp: "), std::string_view(ProgramText(pulse)), what, std::string_view("\n")})
    write_all(STDERR_FILENO, part);
  end_process(failed);
}

/// A process that ends while programs run ends by one of them, if not by the one that computes just now.
void report_end(std::string_view what) {
  const Pulse* const pulse = guarded.load();
  if (pulse == nullptr) return;
  if (std::this_thread::get_id() == pulse->thread) {
    if (running() != nullptr) end_run(*pulse, what);
    return;
  }
  remove_partial_files();
  write_all(STDERR_FILENO, "t3vp: a thread that a program or library has begun");
  write_all(STDERR_FILENO, what);
  write_all(STDERR_FILENO, "\n");
  end_process(failed);
}

struct Cause {
  int signal_number;
  std::string_view text;
};
constexpr Cause causes[] = {{SIGSEGV, " has accessed memory of the host that is not there"},
                            {SIGBUS, " has accessed memory of the host that is not there"},
                            {SIGFPE, " has divided by zero"},
                            {SIGILL, " has run into an instruction that there is not"},
                            {SIGABRT, " has called abort()"}};
constexpr std::array<int, 3> guarded_here{SIGFPE, SIGILL, SIGABRT};  // the stack guard has the others

extern "C" void report_signal(int signal_number, siginfo_t* info, void*) {
  end_run_of_firmware(signal_number, *info);
  remove_partial_files();
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

extern "C" void report_exit() { report_end(" has called exit()"); }

/// What the copy would do is done twice, to the same files.
extern "C" void report_fork() {
  if (const Pulse* pulse = running()) end_run(*pulse, " has called fork()");
}

[[noreturn]] void report_terminate() {
  if (const Pulse* pulse = running())
    end_run(*pulse, " has ended the thread that it runs on or thrown what nobody catches");
  std::abort();
}

}  // namespace

FirmwareGuard::FirmwareGuard(const Pulse& pulse) {
  guarded = &pulse;
  struct sigaction action {};
  action.sa_sigaction = &report_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (std::size_t i = 0; i < guarded_here.size(); ++i) sigaction(guarded_here[i], &action, &before_[i]);
  terminate_before_ = std::set_terminate(&report_terminate);
  static const bool registered = std::atexit(&report_exit) == 0 && std::at_quick_exit(&report_exit) == 0 &&
                                 pthread_atfork(&report_fork, nullptr, nullptr) == 0;
  static_cast<void>(registered);
}

FirmwareGuard::~FirmwareGuard() {
  guarded = nullptr;
  std::set_terminate(terminate_before_);
  for (std::size_t i = 0; i < guarded_here.size(); ++i) sigaction(guarded_here[i], &before_[i], nullptr);
}

void require_own_call(const Pulse& pulse, std::uint16_t gpu) {
  const bool is_own_thread = std::this_thread::get_id() == pulse.thread;
  if (is_own_thread && pulse.passes % 2 == 1 && pulse.gpu == gpu && pulse.kernel.load() == nullptr) return;
  const std::string caller = is_own_thread ? std::string(std::string_view(ProgramText(pulse)))
                                           : "a thread of its own: programs run on the simulation's";
  end_run_for_call(gpu, caller);
}

void end_run_for_call(std::uint16_t gpu, const std::string& caller) {
  remove_partial_files();
  print_error(fmt::format("t3vp: the HAL of GPU {} was called by {}", gpu, caller));
  end_process(failed);
}

LibraryGuard::LibraryGuard(const SoftwareLibrary& library, const Limits& limits, What what)
    : guard_(pulse_), watchdog_(limits, begin(library, what)) {}

/// The library computes from now on.
const Pulse& LibraryGuard::begin(const SoftwareLibrary& library, What what) {
  const char* const done = what == opening ? "opened" : "closed";
  pulse_.library = {fmt::format("{}: found {}, which", library.place.where, library.place.given),
                    fmt::format(" while it was {0}, expected a native library that can be {0}", done),
                    what == opening ? bad_input : failed};
  pulse_.passes = 1;
  return pulse_;
}

std::optional<ProgramText> running_kernel() {
  const Pulse* pulse = running();
  if (pulse == nullptr || pulse->kernel.load() == nullptr) return std::nullopt;
  return ProgramText(*pulse);
}

void end_run_of_firmware(int signal_number, const siginfo_t& info) {
  // A signal that another process has sent is not firmware's.
  const bool is_own = info.si_code > 0 || info.si_pid == getpid();
  const Pulse* pulse = running();
  if (!is_own || pulse == nullptr) return;
  for (const Cause& cause : causes)
    if (cause.signal_number == signal_number) end_run(*pulse, cause.text);
}

void end_run_of_library(std::string_view what) {
  const Pulse* const pulse = running();
  if (pulse != nullptr && pulse->library) end_run(*pulse, what);
}

void end_run_for_its_thread() {
  if (const Pulse* pulse = running()) end_run(*pulse, " has ended the thread that it runs on");
}

void end_process(int exit_code) {
  for (;;) syscall(SYS_exit_group, exit_code);
}

}  // namespace t3vp

/// In place of libc's _exit() and _Exit(), which run no handlers, so that a program's would end the run unnoticed.
extern "C" [[noreturn]] void exit_at_once(int exit_code) __asm__("_exit");
extern "C" [[noreturn]] void exit_at_once_too(int exit_code) __asm__("_Exit");

void exit_at_once(int exit_code) {
  t3vp::report_end(" has called _exit()");
  t3vp::end_process(exit_code);
}

void exit_at_once_too(int exit_code) { exit_at_once(exit_code); }
