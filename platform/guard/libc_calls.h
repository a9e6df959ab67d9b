// Calls of the C library that are the platform's while programs run, since they would end a process unnoticed: exec()
// and its like, vfork(), and the registration of what is destroyed when a thread ends.
#pragma once

namespace t3vp {

/// Runs the destructors of thread_local variables that a library has registered on the simulation's thread, the last
/// one first. Without it they would run when the process ends, where no guard and no limit holds any more. `within`:
/// any place in the library.
void destroy_thread_locals(const void* within);

}  // namespace t3vp
