// Notices that a run goes on only because a kernel reads in a loop of its own what nothing will change any more. Loops
// of t3_wait_value are the business of quiet_polls.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "progress/poll_watch.h"

namespace t3vp {

class ReadWatch {
 public:
  ReadWatch(std::size_t gpus, std::uint64_t limit) : limit_(limit), found_(gpus) {}
  void set_limit(std::uint64_t limit) { limit_ = limit; }

  /// Code of a kernel begins to compute on the GPU.
  void note(std::size_t gpu, const compute::KernelCode& code);

  /// The runner asks now and then. Since any memory was last written to, a wave has read a place `limit` times with the
  /// same value, and each program has ended, waits for an interrupt however long that takes, or polls as often in vain.
  /// Returns which wave it is, the latest one of the first GPU that has any, and what it reads; empty when there is
  /// none.
  std::string in_vain(const AllGpus& all, const Pulse& pulse);

 private:
  struct Found {
    std::string kernel;
    std::uint32_t workgroup, wave, bytes;
    std::uint64_t address, value, times;
  };
  std::string text(std::size_t gpu) const;
  void begin_anew(const Pulse& pulse);

  std::uint64_t limit_;
  std::optional<std::uint64_t> writes_;
  std::unordered_map<const void*, std::uint64_t> first_;  ///< times of each read when it was first seen since then
  Repetitions repetitions_;                               ///< since then
  std::vector<std::optional<Found>> found_;               ///< by GPU, the latest one
};

}  // namespace t3vp
