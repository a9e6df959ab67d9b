// A parent process that watches the one that simulates, so that nothing that a guest does to its own process can hide
// how a run has ended: crash, exit, exec, abort, endless loop or damaged heap are one line each.
#pragma once

#include <optional>

namespace t3vp {

/// Returns nothing in the process that is to simulate, which has a page (guest_page.h) that its parent sees. In the
/// parent it returns the exit code when that process has ended; ends by the same signal where that is no guest's doing.
/// It is called before any thread, library or socket exists. Where there can be no other process, nothing watches.
std::optional<int> watch_from_outside();

/// The simulation has come to its own end. What still computes in this process, when it leaves, are destructors of
/// libraries.
void tell_return();

}  // namespace t3vp
