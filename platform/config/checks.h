// The run file's key `check`.
#pragma once

#include "io/json_document.h"
#include "system/gpu_parameters.h"

namespace t3vp {

/// What is checked where a run file says nothing.
inline constexpr RunChecks usual_checks{false, true};

/// The checkers that a run file names: none, all, one name, or a list of names. Throws InputError.
RunChecks checks_of(const Document& run);

}  // namespace t3vp
