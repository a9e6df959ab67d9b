// The one order in which blocks run at a simulated time (docs/models/timing.md, Order).
//
// SystemC runs the processes of one time in an order of its own, which changes with everything else that waits: with
// the quantum, for instance. Blocks of the data path therefore have no processes. Each has activities, and one agenda
// runs those of a time in rounds: first SystemC's processes of that time (firmware, interrupt lines) come to rest, then
// all activities that are due run: links deliver what arrives at their far ends, then all others follow. Each of both
// run in the order of their construction, which is GPU by GPU and link by link. What they ask for at the same time is
// due in the next round, when processes have come to rest again.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "protocol/units.h"

namespace t3vp {

/// Deliveries go first, so whatever a block does at that time finds all that has arrived over links.
enum class Turn : std::uint8_t { delivery, other };

/// A block's function that runs at the times that the block asks for.
class Activity {
 public:
  explicit Activity(std::function<void()> run, Turn turn = Turn::other);
  ~Activity();
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;

  /// Runs at this time, which is now or later, and not at the time asked for before.
  void run_at(Picoseconds time);
  /// The time at which it runs next; `never` when it is not asked for.
  Picoseconds due() const { return due_; }

 private:
  friend class Agenda;
  std::function<void()> run_;
  std::uint64_t rank_;
  Picoseconds due_ = never;
};

/// The activities of the simulation.
class Agenda {
 public:
  static Agenda& of_simulation();

  void add(Activity& activity, Turn turn) {
    activity.rank_ = ranks_++ | (turn == Turn::other ? std::uint64_t{1} << 63 : 0);
  }
  void remove(Activity& activity);
  void ask(Activity& activity, Picoseconds time);

 private:
  struct Entry {
    Picoseconds time;
    std::uint64_t rank;
    Activity* activity;
  };
  Agenda();
  static bool later(const Entry& a, const Entry& b) { return a.time != b.time ? a.time > b.time : a.rank > b.rank; }
  void run();
  void run_round();
  void arm();

  std::vector<Entry> entries_;  ///< a heap; an entry is void when its activity is due at another time
  std::vector<Activity*> round_;
  std::uint64_t ranks_ = 0;
  sc_core::sc_event next_;
  Picoseconds armed_ = never;
  bool runs_ = false;
};

}  // namespace t3vp
