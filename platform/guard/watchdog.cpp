#include "guard/watchdog.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstring>

#include "guard/firmware_guard.h"
#include "io/console.h"
#include "io/exit_code.h"
#include "io/output_file.h"

namespace t3vp {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

/// Far more than a program needs, and less than a second of the host's time when each is short.
constexpr std::uint64_t most_calls_at_once = 10'000'000;

constexpr std::size_t longest_name = 64;

const char* whom(const Pulse& pulse) { return pulse.kernel.load() != nullptr ? "the device" : "the HAL"; }

[[noreturn]] void end_run(const std::string& limit, const Pulse& pulse) {
  remove_partial_files();
  print_error(fmt::format("t3vp: {}; {}{}", limit, progress_of(pulse), pulse.told()));
  end_process(failed);
}

[[noreturn]] void end_run_for_library(const Pulse::Library& library, double seconds, const char* limit) {
  print_error(fmt::format("{} has computed for {} s ({}){}", library.begin, seconds, limit, library.end));
  end_process(library.exit_code);
}

}  // namespace

ProgramText::ProgramText(const Pulse& pulse) {
  const char* const kernel = pulse.kernel;
  if (kernel == nullptr) {
    append("the firmware");
  } else {
    append("kernel ");
    append({kernel, strnlen(kernel, longest_name)});
  }
  append(" of GPU ");
  append(pulse.gpu.load());
  if (kernel == nullptr || pulse.workgroup == Pulse::nowhere) return;
  append(" (workgroup ");
  append(pulse.workgroup.load());
  append(", wave ");
  append(pulse.wave.load());
  append(")");
}

void ProgramText::append(std::string_view text) {
  length_ += text.copy(text_.data() + length_, text_.size() - length_);
}

void ProgramText::append(std::uint32_t number) {
  char* const end = text_.data() + text_.size();
  length_ = static_cast<std::size_t>(std::to_chars(text_.data() + length_, end, number).ptr - text_.data());
}

std::string progress_of(const Pulse& pulse) {
  const double done = pulse.done, simulated_ms = to_ns(pulse.simulated) / 1e6;
  if (done == Pulse::unknown) return fmt::format("{} ms of simulated time have passed", simulated_ms);
  return fmt::format("{:.0f}% of the work is done after {} ms of simulated time", 100 * done, simulated_ms);
}

Watchdog::Watchdog(const Limits& limits, const Pulse& pulse)
    : limits_(limits), pulse_(pulse), thread_([this] { watch(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopped_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Watchdog::watch() {
  const Seconds interval(std::min(0.1, limits_.firmware_s / 4));
  const Seconds begin = pulse_.clock.elapsed();
  std::uint64_t passes = 0;
  Seconds computing(0);  // of firmware since it last called the HAL
  std::unique_lock<std::mutex> lock(mutex_);
  while (!stopped_) {
    const Seconds elapsed = pulse_.clock.elapsed() - begin;
    Seconds next = interval;
    if (limits_.wall_s) next = std::min(next, std::max(Seconds(*limits_.wall_s) - elapsed, Seconds(0)));
    const Clock::time_point before = Clock::now();
    wake_.wait_for(lock, next, [this] { return stopped_; });
    if (stopped_) return;
    // While a debugger or the terminal has stopped the process, firmware does not compute.
    const Seconds waited = std::min(Seconds(Clock::now() - before), 2 * interval);
    const std::uint64_t now = pulse_.passes.load(std::memory_order_relaxed);
    computing = now % 2 == 1 && now == passes ? computing + waited : Seconds(0);
    passes = now;
    if (computing.count() >= limits_.firmware_s && pulse_.library)
      end_run_for_library(*pulse_.library, limits_.firmware_s, "limits.firmware_s");
    if (computing.count() >= limits_.firmware_s)
      end_run(fmt::format("limits.firmware_s: {} has computed for {} s without a call of {}",
                          std::string_view(ProgramText(pulse_)), limits_.firmware_s, whom(pulse_)),
              pulse_);
    if (pulse_.at_once.load(std::memory_order_relaxed) > 2 * most_calls_at_once)
      end_run(fmt::format("{} has called {} more than {} times while no simulated time passed",
                          std::string_view(ProgramText(pulse_)), whom(pulse_), most_calls_at_once),
              pulse_);
    if (!limits_.wall_s || (pulse_.clock.elapsed() - begin).count() < *limits_.wall_s) continue;
    if (pulse_.library) end_run_for_library(*pulse_.library, *limits_.wall_s, "limits.wall_s");
    end_run(fmt::format("limits.wall_s: the run is not over after {} s, the last to compute was {}", *limits_.wall_s,
                        std::string_view(ProgramText(pulse_))),
            pulse_);
  }
}

}  // namespace t3vp
