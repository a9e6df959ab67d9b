// Notices that a run goes on only because firmware polls what nothing will change any more.
#pragma once

#include <cstdint>
#include <vector>

#include "node/node.h"

namespace t3vp {

/// Changes with whatever goes on in the node besides its programs: nothing does for long without memory, links or
/// compute units.
std::uint64_t progress_without_programs(const Node& node);

/// How often a program has read one value, or found the same interrupt lines raised.
std::uint64_t repetitions(const processor::Processor& processor);

class PollWatch {
 public:
  PollWatch(const Node& node, std::uint64_t limit);
  void set_limit(std::uint64_t limit) { limit_ = limit; }

  /// The runner asks now and then. Since the node last did anything else, each program has ended, has waited for an
  /// interrupt, has read something `limit` times with the same value, or found the same interrupt lines up as often;
  /// and one at least has done either of these.
  bool in_vain();

 private:
  void begin_anew();

  const Node& node_;
  std::uint64_t limit_;
  std::uint64_t progress_ = 0;
  std::vector<std::uint64_t> reads_;  ///< of each program so far, when the node last did anything else
};

}  // namespace t3vp
