// A configuration as its programs receive it.
#pragma once

#include "config/configuration.h"
#include "guests/program_run.h"

namespace t3vp {

ProgramRun program_of_run(const RunConfiguration& configuration);

}  // namespace t3vp
