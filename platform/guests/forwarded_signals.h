// Signals that reach the parent of the simulating process, and are meant for that process.
#pragma once

#include <sys/types.h>

namespace t3vp {

/// From now on every signal that ends a process by default, and can be handled, goes to the child. Its end ends this
/// process. Those of the terminal reach both anyway.
void forward_signals(pid_t child);
/// Another child takes the first one's place.
void forward_signals_to(pid_t child);

/// From now on SIGUSR1 is a request to this process, and is not forwarded.
void take_requests();
bool is_requested();
void forget_request();

}  // namespace t3vp
