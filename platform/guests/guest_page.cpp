#include "guests/guest_page.h"

#include <fmt/format.h>

#include <charconv>

namespace t3vp {
namespace {

GuestPage own_page;  // where no parent watches
std::atomic<GuestPage*> page_of_process{&own_page};

}  // namespace

GuestPage& guest_page() { return *page_of_process; }
void use_guest_page(GuestPage& page) { page_of_process = &page; }

void GuestPage::begin_run(double firmware_limit_s, double wall_limit_s) {
  passes = 0;
  at_once = 0;
  simulated = 0;
  done = unknown;
  told.set({});
  last_name_ = nullptr;
  enter_firmware();
  firmware_s = firmware_limit_s;
  wall_s = wall_limit_s;
  clock.restart();
}

void GuestPage::enter_library(std::string_view begin, std::string_view end, int exit_code) {
  library_begin.set(begin);
  library_end.set(end);
  library_exit_code = exit_code;
  is_library = true;
  at_once = 0;
  if (!computes()) ++passes;
}

void GuestPage::leave_library() {
  if (computes()) ++passes;
  is_library = false;
}

GuestName::GuestName(const GuestPage& page) {
  const bool is_kernel = page.is_kernel;
  if (is_kernel) {
    append("kernel ");
    append(page.kernel.view());
  } else {
    append("the firmware");
  }
  append(" of GPU ");
  append(page.gpu.load());
  if (!is_kernel || page.workgroup == GuestPage::nowhere) return;
  append(" (workgroup ");
  append(page.workgroup.load());
  append(", wave ");
  append(page.wave.load());
  append(")");
}

void GuestName::append(std::string_view text) { length_ += text.copy(text_.data() + length_, text_.size() - length_); }

void GuestName::append(std::uint32_t number) {
  char* const end = text_.data() + text_.size();
  length_ = static_cast<std::size_t>(std::to_chars(text_.data() + length_, end, number).ptr - text_.data());
}

std::string progress_of(const GuestPage& page) {
  const double done = page.done, simulated_ms = to_ns(page.simulated) / 1e6;
  if (done == GuestPage::unknown) return fmt::format("{} ms of simulated time have passed", simulated_ms);
  return fmt::format("{:.0f}% of the work is done after {} ms of simulated time", 100 * done, simulated_ms);
}

}  // namespace t3vp
