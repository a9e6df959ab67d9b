// For what goes on behind sc_start() under the address sanitizer.
#pragma once

namespace t3vp {

/// SystemC notifies the address sanitizer of each switch between the stacks of processes, but of no bounds when it is
/// back on the main stack; without them an exception there is taken for a misuse of it. Nothing without the sanitizer.
void return_to_main_stack();

}  // namespace t3vp
