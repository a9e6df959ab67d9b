// The host's time that a run takes, without the time that it stands still for a debugger.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace t3vp {

/// One thread lets the clock stand and go on. Any thread or process that shares its memory may ask it.
class RunClock {
 public:
  using Seconds = std::chrono::duration<double>;

  /// The run begins now.
  void restart() {
    stood_ = 0;
    stands_since_ = goes;
    begin_ = now();
  }
  void stand(bool stands) {
    const std::int64_t since = stands_since_.load();
    if (stands == (since != goes)) return;
    if (stands) {
      stands_since_ = now();
    } else {
      stood_ += now() - since;
      stands_since_ = goes;
    }
  }
  /// The clock has not gone for that time: the process was a copy that waited.
  void skip(std::chrono::nanoseconds time) { stood_ += time.count(); }
  Seconds elapsed() const {
    const std::int64_t since = stands_since_.load();
    const std::int64_t end = since == goes ? now() : since;
    return std::chrono::nanoseconds(end - begin_ - stood_);
  }

 private:
  static constexpr std::int64_t goes = 0;

  static std::int64_t now() {
    return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
  }

  std::atomic<std::int64_t> begin_{now()}, stood_{0}, stands_since_{goes};  ///< ns
};

}  // namespace t3vp
