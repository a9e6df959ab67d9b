// What the HAL tells of those who call it and may not: apart from the guard, so that a bench may answer otherwise.
#pragma once

#include <cstdint>
#include <string>

namespace t3vp {

/// Ends the run with one line: this GPU's HAL was called by one who may not.
[[noreturn]] void end_run_for_call(std::uint16_t gpu, const std::string& caller);

}  // namespace t3vp
