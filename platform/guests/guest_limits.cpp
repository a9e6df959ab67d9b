#include "guests/guest_limits.h"

#include <fmt/format.h>

#include <algorithm>

#include "guests/guest_ends.h"
#include "io/exit_code.h"

namespace t3vp {
namespace {

using Seconds = std::chrono::duration<double>;

/// Far more than a guest needs, and less than a second of the host's time when each is short.
constexpr std::uint64_t most_calls_at_once = 10'000'000;

const char* whom(const GuestPage& page) { return page.is_kernel ? "the device" : "the HAL"; }

LastLine line_of_library(const GuestPage& page, double seconds, const char* limit) {
  return {fmt::format("{} has computed for {} s ({}){}", page.library_begin.view(), seconds, limit,
                      page.library_end.view()),
          page.library_exit_code};
}

LastLine line_of_run(const std::string& limit, const GuestPage& page) {
  return {fmt::format("t3vp: {}; {}{}", limit, progress_of(page), page.told.view()), failed};
}

}  // namespace

Seconds GuestLimits::interval() const {
  constexpr double usual = 0.1, shortest = 0.001;
  double next = usual;
  if (const double limit = page_.firmware_s; limit > 0) next = std::min(next, limit / 4);
  if (const double limit = page_.wall_s; limit > 0) next = std::min(next, limit - page_.clock.elapsed().count());
  return Seconds(std::max(next, shortest));
}

std::optional<LastLine> GuestLimits::line_of_firmware() const {
  const double limit = page_.firmware_s;
  if (limit <= 0 || computing_.count() < limit) return std::nullopt;
  if (page_.is_library) return line_of_library(page_, limit, "limits.firmware_s");
  return line_of_run(fmt::format("limits.firmware_s: {} has computed for {} s without a call of {}",
                                 std::string_view(GuestName(page_)), limit, whom(page_)),
                     page_);
}

std::optional<LastLine> GuestLimits::look() {
  // While a debugger or the terminal has stopped the process, no guest computes.
  const Clock::time_point now = Clock::now();
  const Seconds waited = std::min(Seconds(now - before_), 2 * interval());
  before_ = now;
  const std::uint64_t passes = page_.passes.load(std::memory_order_relaxed);
  computing_ = passes % 2 == 1 && passes == passes_ ? computing_ + waited : Seconds(0);
  passes_ = passes;
  if (auto line = line_of_firmware()) return line;
  if (page_.at_once.load(std::memory_order_relaxed) > 2 * most_calls_at_once)
    return line_of_run(fmt::format("{} has called {} more than {} times while no simulated time passed",
                                   std::string_view(GuestName(page_)), whom(page_), most_calls_at_once),
                       page_);
  const double wall = page_.wall_s;
  if (wall <= 0 || page_.clock.elapsed().count() < wall) return std::nullopt;
  if (page_.is_library) return line_of_library(page_, wall, "limits.wall_s");
  return line_of_run(fmt::format("limits.wall_s: the run is not over after {} s, the last to compute was {}", wall,
                                 std::string_view(GuestName(page_))),
                     page_);
}

HeldLimits::HeldLimits(const Limits& limits) : page_(guest_page()), looks_(page_) {
  page_.begin_run(limits.firmware_s, limits.wall_s.value_or(0));
  if (!page_.is_watched) thread_ = std::thread([this] { watch(); });
}

HeldLimits::~HeldLimits() {
  page_.firmware_s = 0;
  page_.wall_s = 0;
  if (!thread_.joinable()) return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopped_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void HeldLimits::watch() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!stopped_) {
    wake_.wait_for(lock, looks_.interval(), [this] { return stopped_; });
    if (stopped_) return;
    if (const auto line = looks_.look()) end_with_line(*line);
  }
}

}  // namespace t3vp
