// The HAL's messages about callers that must not call it. They are separate from the guard, so that a testbench can
// replace them.
#pragma once

#include <cstdint>
#include <string>

namespace t3vp {

/// Ends the run with one line: this GPU's HAL was called by one who may not.
[[noreturn]] void end_run_for_call(std::uint16_t gpu, const std::string& caller);

}  // namespace t3vp
