// Conservative windows: nothing takes less than the lookahead from one rank to another. So when the earliest event of
// all ranks is at T, each may run up to T + lookahead without hearing of the others (Chandy and Misra, 1979; windows as
// SST-core and dist-gem5 have them). After each window all ranks exchange what crosses and the times of their next
// events, whose least is T.
#pragma once

#include <functional>

#include "partition/announcements.h"
#include "partition/boundary.h"
#include "partition/transport.h"

namespace t3vp {

class Windows {
 public:
  /// Causes and counters are shared from now on.
  Windows(Transport& transport, Boundary& boundary, Announcements& announcements, Picoseconds lookahead);

  /// Runs one window on all ranks. `run_until` lets simulated time pass up to a time, without the events of that.
  /// Returns false, and runs nothing, when there is no event on any rank, none before `limit`, or a rank wants to stop.
  bool run_next(const std::function<void(Picoseconds)>& run_until, bool wants_to_stop, Picoseconds limit);
  /// The time of the earliest event of all ranks when run_next() was last called; `never` when there was none.
  Picoseconds earliest() const { return earliest_; }
  std::uint64_t count() const { return count_; }

 private:
  /// How a window has ended on a rank.
  struct Ending {
    Picoseconds next;  ///< event
    bool wants_to_stop;
  };
  std::vector<Message> messages(const Ending& ending);

  Transport& transport_;
  Boundary& boundary_;
  Announcements& announcements_;
  Picoseconds lookahead_, earliest_ = never;
  std::uint64_t count_ = 0;
};

}  // namespace t3vp
