// Notices that a run goes on only because a kernel reads in a loop of its own what nothing will change any more. Loops
// of t3_wait_value are the business of quiet_polls.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "node/node.h"

namespace t3vp {

class ReadWatch {
 public:
  ReadWatch(const Node& node, std::uint64_t limit);
  void set_limit(std::uint64_t limit) { limit_ = limit; }

  /// Code of a kernel begins to compute on the GPU.
  void note(std::size_t gpu, const compute::KernelCode& code);

  /// The runner asks now and then. Since any memory was last written to, a wave has read a place `limit` times with the
  /// same value, and each program has ended, waits for an interrupt however long that takes, or polls as often in vain.
  bool in_vain();
  /// Which wave it is, and what it reads. For after in_vain().
  std::string text() const;

 private:
  struct Found {
    std::size_t gpu;
    std::string kernel;
    std::uint32_t workgroup, wave, bytes;
    std::uint64_t address, value, times;
  };

  std::uint64_t writes() const;
  bool programs_rest();
  void begin_anew();

  const Node& node_;
  std::uint64_t limit_, writes_ = 0;
  std::unordered_map<const void*, std::uint64_t> first_;  ///< times of each read when it was first seen since then
  std::vector<std::uint64_t> repetitions_;                ///< of each program then
  std::optional<Found> found_;
};

}  // namespace t3vp
