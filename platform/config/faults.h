// Injected faults as the run file has them.
#pragma once

#include "config/configuration.h"
#include "io/json_document.h"

namespace t3vp {

/// The content of `inject`, which the schema has checked.
Faults read_faults(const nlohmann::json& inject);

/// Throws InputError about a fault in what is not there, or that the run could not notice.
void check_faults(const Document& run, const RunConfiguration& configuration);

}  // namespace t3vp
