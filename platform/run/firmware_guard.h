// What happens when firmware, which runs natively, does what ends a process: calls exit() or abort(), divides by zero,
// follows a null pointer.
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

/// For handlers of signals: whether the program of a kernel runs just now.
bool kernel_runs();

/// For handlers of signals: does not return when firmware has caused this one.
void end_run_of_firmware(int signal_number, const siginfo_t& info);

}  // namespace t3vp
