// Conservative windows: nothing takes less than the lookahead from one rank to another. So when the earliest event of
// all ranks is at T, each may run up to T + lookahead without hearing of the others (Chandy and Misra, 1979; windows as
// SST-core and dist-gem5 have them). A window is half of that. Before it all ranks send what has crossed and the times
// of their next events, whose least is T; after it they receive. So a rank that is late in one window may catch up in
// the next one, before others wait for it.
#pragma once

#include <functional>

#include "partition/announcements.h"
#include "partition/boundary.h"
#include "partition/transport.h"

namespace t3vp {

/// What windows have cost this process.
struct WindowCosts {
  double computing_s = 0;  ///< of the processor's time
  double waiting_s = 0;    ///< for the others, of wall-clock time
  std::uint64_t sent_bytes = 0;
};

class Windows {
 public:
  /// Causes and counters are shared from now on.
  Windows(Transport& transport, Boundary& boundary, Announcements& announcements, Picoseconds lookahead);

  /// All ranks hear of all that has been sent so far. To be called before the first window, and again when events may
  /// have come or gone otherwise than by windows.
  void meet();
  /// Runs one window on all ranks. `run_until` lets simulated time pass up to a time, without the events of that.
  /// Returns false, and runs nothing, when no rank has an event before `end`.
  bool run_next(const std::function<void(Picoseconds)>& run_until, Picoseconds end);
  /// The time of the earliest event of all ranks at the latest meet(); `never` when there was none.
  Picoseconds earliest() const { return all_.next; }
  /// The latest time that a rank had come to then.
  Picoseconds latest() const { return all_.now; }
  std::uint64_t count() const { return count_; }
  const WindowCosts& costs() const { return costs_; }

 private:
  /// Between two windows.
  struct State {
    Picoseconds next;  ///< event
    Picoseconds now;
  };
  void send();
  std::vector<Message> messages();
  void receive();

  Transport& transport_;
  Boundary& boundary_;
  Announcements& announcements_;
  Picoseconds lookahead_;
  Picoseconds begin_, end_;  ///< of the latest window
  State own_{}, all_{};      ///< that this rank has sent; of all ranks before the latest window
  std::uint64_t count_ = 0;
  WindowCosts costs_;
};

}  // namespace t3vp
