// The limits of the host's time: who computes too long, or for ever without letting simulated time go on.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "config/configuration.h"
#include "guests/guest_page.h"

namespace t3vp {

/// The line that ends a run.
struct LastLine {
  std::string text;
  int exit_code;
};

/// Looks at a page now and then.
class GuestLimits {
 public:
  explicit GuestLimits(const GuestPage& page) : page_(page) {}

  /// The line when limits.wall_s or limits.firmware_s is passed, or when a guest has called the HAL or the device far
  /// too often while no simulated time passed.
  std::optional<LastLine> look();
  /// Time until look() has to be called again.
  std::chrono::duration<double> interval() const;

 private:
  using Clock = std::chrono::steady_clock;

  std::optional<LastLine> line_of_firmware() const;

  const GuestPage& page_;
  std::uint64_t passes_ = 0;
  Clock::time_point before_ = Clock::now();
  std::chrono::duration<double> computing_{0};  ///< of a guest since it last called
};

/// While it lives, a run's limits hold. A parent process looks, or where none watches a thread, since guests run on the
/// simulation's thread. What passes a limit is one line on standard error, no partial file and exit code 1.
class HeldLimits {
 public:
  explicit HeldLimits(const Limits& limits);
  ~HeldLimits();
  HeldLimits(const HeldLimits&) = delete;
  HeldLimits& operator=(const HeldLimits&) = delete;

 private:
  void watch();

  GuestPage& page_;
  GuestLimits looks_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace t3vp
