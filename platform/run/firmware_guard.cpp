#include "run/firmware_guard.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
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
  std::array<char, 8> number{};
  const auto digits = std::to_chars(number.data(), number.data() + number.size(), pulse.gpu.load());
  remove_partial_files();
  write_all(STDERR_FILENO, pulse.in_kernel ? "t3vp: a kernel of GPU " : "t3vp: the firmware of GPU ");
  write_all(STDERR_FILENO, {number.data(), static_cast<std::size_t>(digits.ptr - number.data())});
  write_all(STDERR_FILENO, what);
  _exit(failed);
}

struct Cause {
  int signal_number;
  std::string_view text;
};
constexpr Cause causes[] = {{SIGSEGV, " has accessed memory of the host that is not there\n"},
                            {SIGBUS, " has accessed memory of the host that is not there\n"},
                            {SIGFPE, " has divided by zero\n"},
                            {SIGILL, " has run into an instruction that there is not\n"},
                            {SIGABRT, " has called abort()\n"}};
constexpr std::array<int, 3> guarded_here{SIGFPE, SIGILL, SIGABRT};  // the stack guard has the others

extern "C" void report_signal(int signal_number, siginfo_t* info, void*) {
  end_run_of_firmware(signal_number, *info);
  remove_partial_files();
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

extern "C" void report_exit() {
  if (const Pulse* pulse = running()) end_run(*pulse, " has called exit()\n");
}

}  // namespace

FirmwareGuard::FirmwareGuard(const Pulse& pulse) {
  guarded = &pulse;
  struct sigaction action {};
  action.sa_sigaction = &report_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (std::size_t i = 0; i < guarded_here.size(); ++i) sigaction(guarded_here[i], &action, &before_[i]);
  static const bool registered = std::atexit(&report_exit) == 0 && std::at_quick_exit(&report_exit) == 0;
  static_cast<void>(registered);
}

FirmwareGuard::~FirmwareGuard() {
  guarded = nullptr;
  for (std::size_t i = 0; i < guarded_here.size(); ++i) sigaction(guarded_here[i], &before_[i], nullptr);
}

void require_own_call(const Pulse& pulse, std::uint16_t gpu) {
  const bool is_own_thread = std::this_thread::get_id() == pulse.thread;
  if (is_own_thread && pulse.passes % 2 == 1 && pulse.gpu == gpu && !pulse.in_kernel) return;
  const std::string caller =
      is_own_thread ? fmt::format("{} of GPU {}", pulse.in_kernel ? "a kernel" : "the firmware", pulse.gpu.load())
                    : "a thread of its own: programs run on the simulation's";
  remove_partial_files();
  print_error(fmt::format("t3vp: the HAL of GPU {} was called by {}", gpu, caller));
  _exit(failed);
}

bool kernel_runs() {
  const Pulse* pulse = running();
  return pulse != nullptr && pulse->in_kernel;
}

void end_run_of_firmware(int signal_number, const siginfo_t& info) {
  // A signal that another process has sent is not firmware's.
  const bool is_own = info.si_code > 0 || info.si_pid == getpid();
  const Pulse* pulse = running();
  if (!is_own || pulse == nullptr) return;
  for (const Cause& cause : causes)
    if (cause.signal_number == signal_number) end_run(*pulse, cause.text);
}

}  // namespace t3vp
