// A parent process that watches the one that simulates, so that nothing that a guest does to its own process can hide
// how a run has ended: crash, exit, exec, abort, endless loop or damaged heap are one line each.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>

namespace t3vp {

/// Returns nothing in the process that is to simulate, which has a page (guest_page.h) that its parent sees. In the
/// parent it returns the exit code when that process has ended; ends by the same signal where that is no guest's doing.
/// It is called before any thread, library or socket exists. Where there can be no other process, nothing watches.
/// `keeps_snapshots`: the process may call take_snapshot() (snapshots.h). Where it then fails, or where this process
/// gets SIGUSR1, the older snapshot goes on in its place.
std::optional<int> watch_from_outside(bool keeps_snapshots);

/// Copies the simulating process. Returns 0 in the copy, which has a page and a watching parent of its own. Returns
/// that parent's number in the process that was copied, whose child it is: it ends as the copy does. Both outputs of
/// the copy and its parent go to the log. Throws std::runtime_error when there can be no copy.
pid_t start_watched_copy(const std::filesystem::path& log);

/// The simulation has come to its own end. What still computes in this process, when it leaves, are destructors of
/// libraries.
void tell_return();

}  // namespace t3vp
