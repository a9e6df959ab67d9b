// What happens when firmware, which runs natively, does what ends a process (calls exit() or abort(), divides by zero,
// follows a null pointer), or calls a HAL that is not its own.
#pragma once

#include <signal.h>

#include <array>

#include "run/watchdog.h"

namespace t3vp {

class FirmwareGuard {
 public:
  /// From now on such an end inside of firmware is one line on stderr that names the GPU, no partial file and exit code
  /// 1. What is not firmware's ends as it always does. There is one guard at a time.
  explicit FirmwareGuard(const Pulse& pulse);
  ~FirmwareGuard();
  FirmwareGuard(const FirmwareGuard&) = delete;
  FirmwareGuard& operator=(const FirmwareGuard&) = delete;

 private:
  std::array<struct sigaction, 3> before_{};  ///< what was done about SIGFPE, SIGILL and SIGABRT
};

/// Ends the run with one line when it is not this GPU's firmware that calls its HAL, or calls it from a thread of its
/// own: processors wait on the simulation's thread, each in its own program.
void require_own_call(const Pulse& pulse, std::uint16_t gpu);

/// For handlers of signals: whether the program of a kernel runs just now.
bool kernel_runs();

/// For handlers of signals: does not return when firmware has caused this one.
void end_run_of_firmware(int signal_number, const siginfo_t& info);

}  // namespace t3vp
