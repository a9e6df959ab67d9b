// Notices that a run goes on only because firmware polls what nothing will change any more.
#pragma once

#include <cstdint>
#include <vector>

#include "progress/pulse.h"

namespace t3vp {

/// How often each program has repeated itself since a time: has read one value, or found the same interrupt lines up.
class Repetitions {
 public:
  /// They are counted from now on.
  void begin_anew(const Pulse& pulse);
  /// Returns whether a program that has neither ended nor waits for an interrupt has repeated itself less often.
  bool are_fewer(const Pulse& pulse, std::uint64_t limit);

 private:
  std::vector<std::uint64_t> before_;  ///< of each program
};

class PollWatch {
 public:
  PollWatch(const Pulse& pulse, std::uint64_t limit);
  void set_limit(std::uint64_t limit) { limit_ = limit; }

  /// The runner asks now and then. Since the node last did anything else, each program has ended, has waited for an
  /// interrupt, has read something `limit` times with the same value, or found the same interrupt lines up as often;
  /// and one at least has done either of these.
  bool in_vain(const Pulse& pulse);

 private:
  void begin_anew(const Pulse& pulse);

  std::uint64_t limit_;
  std::uint64_t progress_ = 0;
  Repetitions repetitions_;  ///< since the node last did anything else
};

}  // namespace t3vp
