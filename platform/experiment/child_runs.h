// This program run many times at once, each in a process of its own: SystemC has one context per process.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace t3vp {

struct ChildRun {
  std::vector<std::string> arguments;  ///< of t3vp
  std::filesystem::path log;           ///< takes both outputs
};

/// Children end with this process.
class ChildRuns {
 public:
  struct Ended {
    std::size_t run;
    int exit_code;  ///< 128 + signal when a signal ended it
  };

  void start(std::size_t run, const ChildRun& child);
  std::size_t running() const { return children_.size(); }
  /// Those that have ended since the last call.
  std::vector<Ended> take_ended();

 private:
  std::map<pid_t, std::size_t> children_;
};

/// Runs a program found on the PATH in a folder; 127 when there is none.
int run_program(const std::vector<std::string>& arguments, const std::filesystem::path& folder,
                const std::filesystem::path& log);

}  // namespace t3vp
