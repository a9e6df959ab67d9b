// What happens when firmware, which runs natively, does what ends a process (calls exit() or abort(), divides by zero,
// follows a null pointer) or doubles it, or calls a HAL that is not its own; the same of a library that is opened.
#pragma once

#include <cxxabi.h>
#include <signal.h>

#include <array>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

#include "config/software.h"
#include "guard/hal_misuse.h"
#include "guard/watchdog.h"
#include "protocol/float_environment.h"

namespace t3vp {

class FirmwareGuard {
 public:
  static constexpr std::size_t signals = 14;  ///< that end a process, and that it raises itself

  /// From now on such an end inside of firmware is one line on stderr that names the GPU, no partial file and exit code
  /// 1. What is not firmware's ends as it always does, but for exit() of another thread, which is a program's. There is
  /// one guard at a time.
  explicit FirmwareGuard(const Pulse& pulse);
  ~FirmwareGuard();
  FirmwareGuard(const FirmwareGuard&) = delete;
  FirmwareGuard& operator=(const FirmwareGuard&) = delete;

 private:
  std::array<struct sigaction, signals> before_{};  ///< what was done about each
  std::terminate_handler terminate_before_;
};

/// While a library is opened or closed, by which its constructors and destructors run: their end is the program's, and
/// so is that they do not come back for limits.firmware_s. One line tells it, as of other libraries that are refused.
class LibraryGuard {
 public:
  enum What { opening, closing };
  LibraryGuard(const SoftwareLibrary& library, const Limits& limits, What what);
  /// The floating-point environment is the platform's again: a constructor may flush denormal numbers to 0, as those of
  /// libraries that are built with -ffast-math do.
  ~LibraryGuard() { restore_floats(); }
  LibraryGuard(const LibraryGuard&) = delete;
  LibraryGuard& operator=(const LibraryGuard&) = delete;

 private:
  const Pulse& begin(const SoftwareLibrary& library, What what);

  Pulse pulse_;
  FirmwareGuard guard_;
  Watchdog watchdog_;
};

/// Ends the run with one line when it is not this GPU's firmware that calls its HAL, or calls it from a thread of its
/// own: processors wait on the simulation's thread, each in its own program.
void require_own_call(const Pulse& pulse, std::uint16_t gpu);

/// For handlers of signals: the kernel whose code runs just now, if one's does.
std::optional<ProgramText> running_kernel();

/// For handlers of signals: from now on it does what it does by default, whoever runs.
void leave_to_host(int signal_number);

/// For handlers of signals: does not return when firmware has caused this one.
void end_run_of_firmware(int signal_number, const siginfo_t& info);

/// A process that ends while programs run, or is about to become another one, does so by one of them, if not by the
/// one that computes just now: " has called exit()".
void report_end(std::string_view what);

/// Whether a program or library computes, on the thread that calls.
bool computes_here();

/// The same when a library that is opened or closed has done what the text says: " has called exit()".
void end_run_of_library(std::string_view what);

/// The thread that the firmware runs on is about to end.
void end_run_for_its_thread();

/// Calls what a program may end its thread in, as by pthread_exit(): that ends the run with a line.
template <typename Call>
auto guarded_call(Call call) {
  try {
    return call();
  } catch (abi::__forced_unwind&) {
    end_run_for_its_thread();
    throw;
  }
}

/// Ends the process at once, as _exit() does, which firmware may not call.
[[noreturn]] void end_process(int exit_code);

}  // namespace t3vp
