// The run file's key `check`.
#pragma once

#include <string>

#include "io/json_document.h"
#include "system/gpu_parameters.h"

namespace t3vp {

/// What is checked where a run file says nothing.
inline constexpr RunChecks usual_checks{false, true};

/// The checkers that a run file names: none, all, one name, or a list of names. Races are looked for in functional runs
/// alone, and `all` leaves them out of others. Throws InputError.
RunChecks checks_of(const Document& run, bool functional);

/// What `all` has left out, and why; empty when it is nothing.
std::string checks_left_out(const nlohmann::json& run, bool functional);

}  // namespace t3vp
