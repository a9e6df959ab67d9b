// The processes of one run, wherever they are in the tree: all of them have an environment variable of its own.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "command_line/program.h"

namespace t3vp::test {

class MarkedProcesses {
 public:
  /// To be called in the child that becomes the program.
  void mark() const { setenv("T3VP_TEST_MARK", value_.c_str(), 1); }

  std::vector<pid_t> alive() const {
    std::vector<pid_t> found;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string name = entry.path().filename();
      if (name.find_first_not_of("0123456789") != std::string::npos || name == std::to_string(getpid())) continue;
      if (text_of(entry.path() / "environ").find("T3VP_TEST_MARK=" + value_) == std::string::npos) continue;
      found.push_back(static_cast<pid_t>(std::stol(name)));
    }
    return found;
  }
  /// Waits for that many; false when it takes too long.
  bool become(std::size_t count) const {
    for (int tries = 0; tries < 2000; ++tries) {
      if (alive().size() == count) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  }

 private:
  std::string value_ =
      std::to_string(getpid()) + "-" + std::to_string(std::chrono::steady_clock::now().time_since_epoch().count());
};

}  // namespace t3vp::test
