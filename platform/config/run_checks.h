// Checks of a run that no JSON Schema can express: all that a driver, a table or a memory of the run would refuse
// later.
#pragma once

#include "config/configuration.h"
#include "io/json_document.h"

namespace t3vp {

/// Throws InputError about the first setting that another one excludes.
void check_run(const Document& run, const Document& system, const RunConfiguration& configuration);

}  // namespace t3vp
