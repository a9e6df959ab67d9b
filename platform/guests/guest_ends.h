// Guests run natively. These functions act when a guest does what ends a process: it calls exit() or abort(), divides
// by zero, follows a null pointer or overflows its stack. They also act when it forks the process or calls a HAL that
// is not its own. All of them are ordinary handlers of signals, of exit() and of fork(). A parent process reports what
// gets past them; it watches the page (watched_process.h).
#pragma once

#include <cxxabi.h>
#include <signal.h>

#include <array>
#include <exception>
#include <string_view>

#include "config/configuration.h"
#include "config/software.h"
#include "guests/guest_limits.h"
#include "guests/guest_page.h"
#include "guests/hal_misuse.h"
#include "protocol/float_environment.h"

namespace t3vp {

/// While it lives such an end inside of a guest is one line that names it, no partial file and exit code 1. What is no
/// guest's ends as it always does, but for exit() of another thread, which is a guest's. Its thread is the
/// simulation's.
class GuestEnds {
 public:
  static constexpr std::size_t signals = 14;  ///< that end a process, and that it raises itself

  GuestEnds();
  ~GuestEnds();
  GuestEnds(const GuestEnds&) = delete;
  GuestEnds& operator=(const GuestEnds&) = delete;

 private:
  std::array<struct sigaction, signals> before_{};  ///< what was done about each
  std::terminate_handler terminate_before_;
};

/// Active while a library is opened or closed, which runs its constructors and destructors. A constructor that ends the
/// process is reported like other errors of refused libraries. So is one that does not return within limits.firmware_s.
class LibraryCode {
 public:
  enum What { opening, closing };
  LibraryCode(const SoftwareLibrary& library, const Limits& limits, What what);
  ~LibraryCode();
  LibraryCode(const LibraryCode&) = delete;
  LibraryCode& operator=(const LibraryCode&) = delete;

 private:
  GuestEnds ends_;
  HeldLimits limits_;
};

/// From now on an overflow of the stack of any SystemC thread, or of the program's own, is one line and exit code 1.
/// Other invalid accesses stay what they are, but for guests'. None leaves a partial file.
void report_stack_overflows();

/// Ends the run with one line when this is not the process that has begun it: vfork() makes one without a word.
void require_own_process();

/// Ends the run with one line when it is not this GPU's firmware that calls its HAL, or calls it from a thread of its
/// own: processors wait on the simulation's thread, each in its own program.
void require_own_call(std::uint16_t gpu);

/// The thread that the guest runs on is about to end.
void end_run_for_its_thread();

/// Ends the process at once with this line, which its parent prints if one watches.
[[noreturn]] void end_with_line(const LastLine& line);

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

}  // namespace t3vp
