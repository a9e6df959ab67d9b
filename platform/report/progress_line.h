// Progress of long work on stderr, for people only.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace t3vp {

/// Draws nothing unless stderr is a terminal.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// A bar, where the share is known, and the phase.
  void show(std::optional<double> done, const std::string& phase);
  void clear();
  /// Standard error has become another file.
  void look_at_terminal();

 private:
  bool terminal_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace t3vp
