// This program run many times at once, each in a process of its own: SystemC has one context per process.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace t3vp {

struct ChildRun {
  std::vector<std::string> arguments;  ///< of t3vp
  std::filesystem::path log;           ///< takes both outputs
};

/// Runs them in order, at most `jobs` at a time, and calls `ended` for each with its exit code (128 + signal when a
/// signal ended it), `tick` now and then. Children end with this process.
void run_children(const std::vector<ChildRun>& runs, unsigned jobs,
                  const std::function<void(std::size_t run, int exit_code)>& ended, const std::function<void()>& tick);

/// Runs a program found on the PATH in a folder; 127 when there is none.
int run_program(const std::vector<std::string>& arguments, const std::filesystem::path& folder,
                const std::filesystem::path& log);

}  // namespace t3vp
