// Kernels that have ended: what they wrote, and those that ran beside packets of other queues.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "protocol/output_range.h"
#include "protocol/units.h"

namespace t3vp::compute {

class KernelHistory {
 public:
  struct Ended {
    std::uint8_t queue;
    std::string kernel;
    std::vector<OutputRange> writes, reads;
    Picoseconds end;
    std::uint64_t packet;  ///< number of its packet in the queue, from 1
  };

  /// A kernel that has ended wrote this range.
  void note_written(const OutputRange& output, const std::string& kernel) {
    auto place = std::find_if(written_.begin(), written_.end(), [&](const Written& w) { return w.range == output; });
    if (place == written_.end() && written_.size() == most_noted) place = written_.begin();
    if (place != written_.end()) written_.erase(place);
    written_.push_back({output, kernel});
  }
  bool has_written(std::uint64_t address) const { return find(address) != nullptr; }
  /// The latest kernel that wrote there; empty when there is none.
  std::string writer_of(std::uint64_t address) const {
    const Written* const last = find(address);
    return last == nullptr ? std::string() : last->kernel;
  }

  void note_ended(Ended ended) { ended_.push_back(std::move(ended)); }
  /// Forgets those for which this is true.
  template <typename Condition>
  void forget_ended(Condition is_over) {
    ended_.erase(std::remove_if(ended_.begin(), ended_.end(), is_over), ended_.end());
  }
  const std::vector<Ended>& ended() const { return ended_; }

  void clear() {
    written_.clear();
    ended_.clear();
  }

 private:
  static constexpr std::size_t most_noted = 256;
  struct Written {
    OutputRange range;
    std::string kernel;
  };

  const Written* find(std::uint64_t address) const {
    const auto last = std::find_if(written_.rbegin(), written_.rend(),
                                   [address](const Written& written) { return written.range.overlaps(address, 1); });
    return last == written_.rend() ? nullptr : &*last;
  }

  std::vector<Written> written_;  ///< each range once, the latest ones, in their order
  std::vector<Ended> ended_;      ///< while packets of other queues are pending that were announced before the end
};

}  // namespace t3vp::compute
