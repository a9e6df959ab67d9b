#include "report/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include "io/output_file.h"
#include "report/result_table.h"

namespace t3vp {

ProgressLine::ProgressLine() : terminal_(isatty(STDERR_FILENO) == 1) {}

void ProgressLine::look_at_terminal() {
  terminal_ = isatty(STDERR_FILENO) == 1;
  drawn_ = false;
}

void ProgressLine::show(std::optional<double> done, const std::string& phase) {
  constexpr std::chrono::milliseconds interval(100);
  const auto time = std::chrono::steady_clock::now();
  if (!terminal_ || time - last_ < interval) return;
  last_ = time;
  drawn_ = true;
  const std::string share = done ? fmt::format("{:3.0f}% [{:<30}] ", 100 * *done, bar(*done, 30)) : "";
  write_all(STDERR_FILENO, "\r\033[K" + share + phase);
}

void ProgressLine::clear() {
  if (drawn_) write_all(STDERR_FILENO, "\r\033[K");
  drawn_ = false;
}

}  // namespace t3vp
