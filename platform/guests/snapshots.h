// Snapshots of a run: copies of the simulating process that wait. When the run fails, the older of the last two goes
// on.
//
// The simulating process forks between steps of guests. The parent process that watches it (watched_process.h) owns the
// copies: it wakes one, or ends all. A copy waits at a pipe, which closes when that parent ends, however it ends.
#pragma once

#include <sys/types.h>

#include <array>
#include <optional>

#include "protocol/picoseconds.h"

namespace t3vp {

// In the simulating process.

/// Whether a parent watches this process, and keeps snapshots.
bool has_keeper_of_snapshots();

/// Replaces the older of two snapshots. Returns true in the copy when it goes on, false in the process that was copied.
/// Ends the process, as bad input does, when it has other threads, which a copy would not have. Throws
/// std::runtime_error when there can be no copy, or when a copy cannot reopen its outputs.
bool take_snapshot(Picoseconds now);

/// The run has failed. Ends the process without a word when there is a snapshot, which then goes on.
void leave_to_snapshot();

/// The run has passed: its snapshots end.
void drop_snapshots();

/// Why a snapshot goes on.
struct ResumedFor {
  Picoseconds ended_at;  ///< simulated time that the earlier process had come to
  bool is_asked;         ///< the user has asked for it; else the run had failed
};
/// None in a process that is no snapshot.
std::optional<ResumedFor> resumed_for();

// In the parent.

class SnapshotBoard;

/// To be made before the simulating process, and to be left in it by simulate().
class SnapshotKeeper {
 public:
  static constexpr std::size_t kept = 2;

  /// Throws std::runtime_error when there can be no pipes.
  SnapshotKeeper();
  /// In the simulating process: it takes the snapshots from now on. `closed_at_exec` is a descriptor that no snapshot
  /// may hold open.
  void leave_in_simulation(int closed_at_exec);
  /// In the parent.
  void begin_to_keep();
  bool has_any() const;
  bool is_left_to() const;  ///< the simulating process has called leave_to_snapshot()
  /// Lets the older one go on, for the simulating process, which has ended. Ends the other one. Returns its process;
  /// none when there is none.
  std::optional<pid_t> resume(const ResumedFor& why);
  /// Ends all that wait. Returns when they have ended.
  void clear();

 private:
  struct Pipe {
    int read_end = -1, write_end = -1;
  };
  friend bool take_snapshot(Picoseconds now);
  friend void drop_snapshots();
  void close_ends(int Pipe::*end);
  void end(std::size_t slot);
  std::optional<pid_t> wake(std::size_t slot);
  std::optional<std::size_t> oldest() const;

  SnapshotBoard& board_;
  std::array<Pipe, kept> pipes_;
  int closed_at_exec_ = -1;
};

}  // namespace t3vp
