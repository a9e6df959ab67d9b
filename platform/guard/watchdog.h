// Ends a run that takes too long on the host: a thread of its own, since firmware runs on the simulation's, where an
// endless loop of it would let nothing else happen.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "config/configuration.h"
#include "guard/run_clock.h"
#include "protocol/units.h"

namespace t3vp {

/// What the simulation's thread tells of itself as it goes on.
struct Pulse {
  /// A library that computes while it is opened or closed, when no firmware runs: the line that ends the program then
  /// begins and ends so. Nothing while programs and kernels run.
  struct Library {
    std::string begin, end;
    int exit_code;
  };
  std::optional<Library> library;

  static constexpr std::uint32_t nowhere = 0xFFFFFFFF;

  /// Counts how often control passes between firmware and the HAL: odd while firmware computes.
  std::atomic<std::uint64_t> passes{0};
  std::atomic<std::uint16_t> gpu{0};  ///< whose firmware it was
  /// Name of the kernel whose code it was instead, which calls the device and not the HAL; null: firmware.
  std::atomic<const char*> kernel{nullptr};
  std::atomic<std::uint32_t> workgroup{nowhere}, wave{nowhere};  ///< of the kernel; nowhere: its check, plan and so on
  std::atomic<std::uint64_t> at_once{0};  ///< of the passes, those since simulated time or a kernel last went on
  std::atomic<Picoseconds> simulated{0};  ///< time
  static constexpr double unknown = -1;
  std::atomic<double> done{unknown};  ///< share of the work, 0 to 1, where somebody knows how much there is
  RunClock clock;                     ///< by which the limits of the host's time hold
  const std::thread::id thread = std::this_thread::get_id();  ///< the simulation's

  /// What firmware polls and waits for, and what has become of the injected faults: "; GPU 0 ...; fault ...".
  void tell(std::string text) {
    const std::lock_guard<std::mutex> lock(mutex_);
    told_ = std::move(text);
  }
  std::string told() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return told_;
  }

  /// Control will pass to the code of a kernel from now on.
  void enter(const char* of_kernel, std::uint32_t of_workgroup, std::uint32_t of_wave) {
    kernel.store(of_kernel, std::memory_order_relaxed);
    workgroup.store(of_workgroup, std::memory_order_relaxed);
    wave.store(of_wave, std::memory_order_relaxed);
  }
  void enter_firmware() { kernel.store(nullptr, std::memory_order_relaxed); }

  /// Control passes to a GPU's firmware, or to the code of one of its kernels, or from it. `ended`: a workgroup has
  /// ended since.
  void pass(std::uint16_t of_gpu, bool ended = false) {
    const Picoseconds time = now();
    const bool goes_on = ended || time != simulated.load(std::memory_order_relaxed);
    gpu.store(of_gpu, std::memory_order_relaxed);
    simulated.store(time, std::memory_order_relaxed);
    at_once.store(goes_on ? 0 : at_once.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    passes.store(passes.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

 private:
  mutable std::mutex mutex_;
  std::string told_;
};

/// Whose code computes, or did last: "the firmware of GPU 0", "kernel gemm of GPU 0 (workgroup 3, wave 1)". Handlers of
/// signals may ask, too.
class ProgramText {
 public:
  explicit ProgramText(const Pulse& pulse);
  operator std::string_view() const { return {text_.data(), length_}; }  // NOLINT(google-explicit-constructor)

 private:
  void append(std::string_view text);
  void append(std::uint32_t number);

  std::array<char, 160> text_{};
  std::size_t length_ = 0;
};

/// How far a run has come, for the line that ends it: "12% of the work is done after 0.25 ms of simulated time",
/// without the share "0.25 ms of simulated time have passed".
std::string progress_of(const Pulse& pulse);

class Watchdog {
 public:
  /// From now on limits.wall_s and limits.firmware_s hold, and firmware may not call the HAL for ever without letting
  /// simulated time go on. What passes one ends the process: one line on standard error, no partial file, exit code 1.
  Watchdog(const Limits& limits, const Pulse& pulse);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  void watch();

  Limits limits_;
  const Pulse& pulse_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace t3vp
