// Something in a child process, since SystemC allows one simulation context per process and crashes end it.
#pragma once

#include <functional>
#include <string>

namespace t3vp {

struct ChildEnd {
  bool crashed = false;   ///< by a signal, an unknown exception or an unknown exit code
  std::string parameter;  ///< of the ParameterError that ended it; empty: none
  std::string text;       ///< of the error, or how it crashed
  bool right() const { return !crashed && parameter.empty(); }
};

/// Runs `work` in a child process, for a minute at most.
ChildEnd run_in_child(const std::function<void()>& work);

}  // namespace t3vp
