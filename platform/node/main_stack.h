// For what goes on behind sc_start() under the address sanitizer.
#pragma once

namespace t3vp {

/// SystemC notifies the address sanitizer of each switch between the stacks of processes, but gives no bounds on its
/// return to the main stack. Without bounds the sanitizer takes an exception there for a misuse of the stack. This
/// function does nothing without the sanitizer.
void return_to_main_stack();

}  // namespace t3vp
