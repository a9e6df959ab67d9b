// The state of the guests, other people's programs and kernels, as seen from outside: whose code computes, since when,
// and how the simulating process has ended. A parent process that watches the simulation shares this page.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "guests/run_clock.h"
#include "io/output_file.h"
#include "protocol/units.h"

namespace t3vp {

/// A text of at most `most` characters. It is empty while it is written, so that a writer who is killed leaves no half.
template <std::size_t most>
class PageText {
 public:
  void set(std::string_view text) {
    length_ = 0;
    const std::size_t kept = std::min(text.size(), most);
    std::memcpy(text_.data(), text.data(), kept);
    length_ = static_cast<std::uint32_t>(kept);
  }
  std::string_view view() const { return {text_.data(), std::min<std::size_t>(length_, most)}; }

 private:
  std::atomic<std::uint32_t> length_{0};
  std::array<char, most> text_;
};

class GuestPage {
 public:
  static constexpr std::uint32_t nowhere = 0xFFFFFFFF;

  // The guest whose code computes.
  std::atomic<std::uint64_t> passes{
      0};                              ///< how often control has passed to a guest or back: odd while a guest computes
  std::atomic<std::uint16_t> gpu{0};   ///< whose program or kernel it is, or was
  std::atomic<bool> is_kernel{false};  ///< the code is a kernel's, which calls the device and not the HAL
  std::atomic<std::uint32_t> workgroup{nowhere},
      wave{nowhere};                      ///< of the kernel; nowhere: in its check, plan and so on
  std::atomic<std::uint64_t> at_once{0};  ///< passes since simulated time or a workgroup last went on
  std::atomic<Picoseconds> simulated{0};  ///< time
  static constexpr double unknown = -1;
  std::atomic<double> done{unknown};             ///< share of the work, 0 to 1, where somebody knows how much there is
  RunClock clock;                                ///< by which the limits of the host's time hold
  std::atomic<double> firmware_s{0}, wall_s{0};  ///< the limits; 0: none
  PageText<64> kernel;                           ///< name
  PageText<32 << 10> told;  ///< what firmware waits for, and which injected faults have struck: "; GPU 0 ..."

  // While a library is opened or closed, in place of a GPU's guests: the start and end of the line that reports its
  // end.
  std::atomic<bool> is_library{false};
  PageText<8 << 10> library_begin;
  PageText<256> library_end;
  std::atomic<int> library_exit_code{0};

  // The end of the simulating process.
  std::atomic<bool> is_watched{false};  ///< by a parent, which reports the end
  std::atomic<int> process{0};          ///< its number
  PageText<12 << 10> last_line;         ///< what a handler of its own has found out; empty: nothing
  std::atomic<int> last_exit_code{0};
  std::atomic<bool> is_foreign{false};  ///< another process has sent the signal that ends it
  std::atomic<bool> returned{false};    ///< the simulation has come to its own end
  std::atomic<bool> left{false};        ///< the handlers of its exit have run
  PartialFiles partial_files;

  GuestPage() = default;
  GuestPage(const GuestPage&) = delete;
  GuestPage& operator=(const GuestPage&) = delete;

  /// A run begins: no guest computes, and its clock goes.
  void begin_run(double firmware_limit_s, double wall_limit_s);

  /// Control will pass to the code of a kernel from now on.
  void enter_kernel(const char* name, std::uint32_t of_workgroup, std::uint32_t of_wave) {
    if (name != last_name_) {
      kernel.set({name, strnlen(name, 64)});
      last_name_ = name;
    }
    is_kernel.store(true, std::memory_order_relaxed);
    workgroup.store(of_workgroup, std::memory_order_relaxed);
    wave.store(of_wave, std::memory_order_relaxed);
  }
  void enter_firmware() { is_kernel.store(false, std::memory_order_relaxed); }

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
  bool computes() const { return passes.load() % 2 == 1; }

  /// A library is about to run its constructors or destructors. `begin` and `end` are the start and end of the line
  /// that reports its end.
  void enter_library(std::string_view begin, std::string_view end, int exit_code);
  void leave_library();

  /// False when a guest has written over the page.
  bool is_whole() const { return head_ == mark && tail_ == mark; }

 private:
  static constexpr std::uint64_t mark = 0x5433'7670'4775'6573;

  std::atomic<std::uint64_t> head_{mark};
  const char* last_name_ = nullptr;
  std::atomic<std::uint64_t> tail_{mark};
};

/// This process's. It is the shared one when a parent watches.
GuestPage& guest_page();
void use_guest_page(GuestPage& page);

/// The name of the guest that computes, or did last: "the firmware of GPU 0", "kernel gemm of GPU 0 (workgroup 3, wave
/// 1)". Signal handlers may use it, too.
class GuestName {
 public:
  explicit GuestName(const GuestPage& page);
  operator std::string_view() const { return {text_.data(), length_}; }  // NOLINT(google-explicit-constructor)

 private:
  void append(std::string_view text);
  void append(std::uint32_t number);

  std::array<char, 160> text_{};
  std::size_t length_ = 0;
};

/// Returns the progress of a run, for the line that ends it: "12% of the work is done after 0.25 ms of simulated time",
/// or without the share "0.25 ms of simulated time have passed".
std::string progress_of(const GuestPage& page);

}  // namespace t3vp
