#include "guard/firmware_guard.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <iterator>
#include <string_view>

#include "io/console.h"
#include "io/exit_code.h"
#include "io/output_file.h"

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

/// The same of one that cannot be named.
[[noreturn]] void end_run(std::string_view who, std::string_view what) {
  remove_partial_files();
  for (const std::string_view part : {std::string_view("t3vp: "), who, what, std::string_view("\n")})
    write_all(STDERR_FILENO, part);
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
constexpr std::string_view float_exception = " has run into a floating-point exception that it does not mask";

/// What a process may raise itself, and what its timers send.
constexpr Cause raised[] = {
    {SIGTERM, " has raised SIGTERM"},
    {SIGINT, " has raised SIGINT"},
    {SIGHUP, " has raised SIGHUP"},
    {SIGQUIT, " has raised SIGQUIT"},
    {SIGUSR1, " has raised SIGUSR1"},
    {SIGUSR2, " has raised SIGUSR2"},
    {SIGTRAP, " has raised SIGTRAP"},
    {SIGXCPU, " has raised SIGXCPU, or limited the processor's time, which is used up"},
    {SIGALRM, " has raised SIGALRM, or a timer that runs out has"},
    {SIGVTALRM, " has raised SIGVTALRM, or a timer that runs out has"},
    {SIGPROF, " has raised SIGPROF, or a timer that runs out has"},
};
constexpr std::array<int, 3> guarded_here{SIGFPE, SIGILL, SIGABRT};  // the stack guard has the others
static_assert(FirmwareGuard::signals == guarded_here.size() + std::size(raised));

std::string_view text_of(const Cause& cause, const siginfo_t& info) {
  const bool is_of_floats =
      cause.signal_number == SIGFPE && info.si_code > 0 && info.si_code != FPE_INTDIV && info.si_code != FPE_FLTDIV;
  return is_of_floats ? float_exception : cause.text;
}

/// What was done about the signals before there was a guard.
std::atomic<const std::array<struct sigaction, FirmwareGuard::signals>*> actions_before{nullptr};

/// A signal that is no program's does what it would do without a guard.
void pass_on(int signal_number) {
  const auto* const before = actions_before.load();
  for (std::size_t i = 0; before != nullptr && i < std::size(raised); ++i) {
    const struct sigaction& action = (*before)[guarded_here.size() + i];
    if (raised[i].signal_number != signal_number || action.sa_handler == SIG_DFL) continue;
    if ((action.sa_flags & SA_SIGINFO) == 0) return action.sa_handler(signal_number);
  }
  leave_to_host(signal_number);
  raise(signal_number);
}

extern "C" void report_signal(int signal_number, siginfo_t* info, void*) {
  end_run_of_firmware(signal_number, *info);
  remove_partial_files();
  leave_to_host(signal_number);
  raise(signal_number);
}

/// Others may send these to the process as well, and a terminal does.
extern "C" void report_raised(int signal_number, siginfo_t* info, void*) {
  const bool is_of_timer =
      info->si_code == SI_TIMER || (info->si_code > 0 && (signal_number == SIGALRM || signal_number == SIGVTALRM ||
                                                          signal_number == SIGPROF || signal_number == SIGTRAP));
  const bool is_own = info->si_code <= 0 && info->si_pid == getpid();
  const bool is_of_limit = signal_number == SIGXCPU && info->si_code > 0;  // which anybody may have set
  for (const Cause& cause : raised) {
    if (cause.signal_number != signal_number || !(is_of_timer || is_own || is_of_limit)) continue;
    const Pulse* const pulse = running();
    if (pulse != nullptr && !is_of_limit) end_run(*pulse, cause.text);
    end_run("a program, a library, or who has started this process,", cause.text);
  }
  pass_on(signal_number);
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
  action.sa_sigaction = &report_raised;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  for (std::size_t i = guarded_here.size(); i < signals; ++i) {
    const int number = raised[i - guarded_here.size()].signal_number;
    sigaction(number, nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) sigaction(number, &action, nullptr);
  }
  actions_before = &before_;
  terminate_before_ = std::set_terminate(&report_terminate);
  static const bool registered = std::atexit(&report_exit) == 0 && std::at_quick_exit(&report_exit) == 0 &&
                                 pthread_atfork(&report_fork, nullptr, nullptr) == 0;
  static_cast<void>(registered);
}

FirmwareGuard::~FirmwareGuard() {
  guarded = nullptr;
  std::set_terminate(terminate_before_);
  actions_before = nullptr;
  for (std::size_t i = 0; i < signals; ++i)
    sigaction(i < guarded_here.size() ? guarded_here[i] : raised[i - guarded_here.size()].signal_number, &before_[i],
              nullptr);
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
    if (cause.signal_number == signal_number) end_run(*pulse, text_of(cause, info));
}

void end_run_of_library(std::string_view what) {
  const Pulse* const pulse = running();
  if (pulse != nullptr && pulse->library) end_run(*pulse, what);
}

void report_end(std::string_view what) {
  const Pulse* const pulse = guarded.load();
  if (pulse == nullptr) return;
  if (std::this_thread::get_id() != pulse->thread) end_run("a thread that a program or library has begun", what);
  if (running() != nullptr) end_run(*pulse, what);
}

bool computes_here() {
  const Pulse* const pulse = running();
  return pulse != nullptr && pulse->thread == std::this_thread::get_id();
}

void end_run_for_its_thread() {
  if (const Pulse* pulse = running()) end_run(*pulse, " has ended the thread that it runs on");
}

bool is_kept(int signal_number) {
  return running() != nullptr && std::any_of(std::begin(causes), std::end(causes), [signal_number](const Cause& cause) {
           return cause.signal_number == signal_number;
         });
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

// In place of libc's as well. A program can no more have the signals of its own faults than SIGKILL: the host's kernel
// ends a process at once, without a line, when such a signal is ignored or held off.

namespace {

template <typename Function>
Function* of_libc(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

auto libc_signal() {
  using Handler = void (*)(int);
  static const auto call = of_libc<Handler(int, Handler)>("signal");
  return call;
}

/// The same set but for those that cannot be held off.
const sigset_t* without_kept(const sigset_t* set, sigset_t& copy) {
  if (set == nullptr) return nullptr;
  copy = *set;
  for (const t3vp::Cause& cause : t3vp::causes)
    if (t3vp::is_kept(cause.signal_number)) sigdelset(&copy, cause.signal_number);
  return &copy;
}

}  // namespace

extern "C" {
int set_action(int signal_number, const struct sigaction* action, struct sigaction* before) __asm__("sigaction");
void (*set_handler(int signal_number, void (*handler)(int)))(int) __asm__("signal");
int set_mask(int how, const sigset_t* set, sigset_t* before) __asm__("sigprocmask");
int set_mask_of_thread(int how, const sigset_t* set, sigset_t* before) __asm__("pthread_sigmask");
}

int set_action(int signal_number, const struct sigaction* action, struct sigaction* before) {
  static const auto call = of_libc<decltype(set_action)>("sigaction");
  if (action == nullptr || !t3vp::is_kept(signal_number)) return call(signal_number, action, before);
  errno = EINVAL;
  return -1;
}

void (*set_handler(int signal_number, void (*handler)(int)))(int) {
  const auto call = libc_signal();
  if (!t3vp::is_kept(signal_number)) return call(signal_number, handler);
  errno = EINVAL;
  return SIG_ERR;
}

int set_mask(int how, const sigset_t* set, sigset_t* before) {
  static const auto call = of_libc<decltype(set_mask)>("sigprocmask");
  sigset_t copy;
  return call(how, without_kept(set, copy), before);
}

int set_mask_of_thread(int how, const sigset_t* set, sigset_t* before) {
  static const auto call = of_libc<decltype(set_mask_of_thread)>("pthread_sigmask");
  sigset_t copy;
  return call(how, without_kept(set, copy), before);
}

void t3vp::leave_to_host(int signal_number) { libc_signal()(signal_number, SIG_DFL); }
