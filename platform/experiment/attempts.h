// How often the runs of an experiment have been tried, so that a failed run is made once more and not for ever.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>

namespace t3vp {

class Attempts {
 public:
  /// `submission` names the jobs of a scheduler that try the runs together. They count in the runs' folders. Without a
  /// name the process counts for itself.
  Attempts(std::string submission, unsigned most) : submission_(std::move(submission)), most_(most) {}

  /// False when the run has been tried often enough.
  bool are_left(std::size_t run, const std::filesystem::path& folder) const { return made(run, folder) < most_; }
  /// One begins. The caller has the lock of the run.
  void begin(std::size_t run, const std::filesystem::path& folder);

 private:
  unsigned made(std::size_t run, const std::filesystem::path& folder) const;

  std::string submission_;
  unsigned most_;
  std::map<std::size_t, unsigned> made_;  ///< by this process
};

}  // namespace t3vp
