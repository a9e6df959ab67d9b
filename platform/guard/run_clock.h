// The host's time that a run takes, without what it stands still for a debugger.
#pragma once

#include <chrono>
#include <mutex>

namespace t3vp {

/// It goes from its construction on. Any thread may ask.
class RunClock {
 public:
  using Seconds = std::chrono::duration<double>;

  void stand(bool stands) {
    const std::lock_guard<std::mutex> lock(mutex_);
    before_ = elapsed_so_far();
    since_ = Clock::now();
    stands_ = stands;
  }
  Seconds elapsed() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return elapsed_so_far();
  }

 private:
  using Clock = std::chrono::steady_clock;

  Seconds elapsed_so_far() const { return stands_ ? before_ : Seconds(before_ + (Clock::now() - since_)); }

  mutable std::mutex mutex_;
  Seconds before_{0};
  Clock::time_point since_ = Clock::now();
  bool stands_ = false;
};

}  // namespace t3vp
