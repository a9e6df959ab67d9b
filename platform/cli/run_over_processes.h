// `mpirun -np N t3vp run`: one run over several processes.
#pragma once

#include "cli/command_line.h"

namespace t3vp {

/// Simulates this process's part of the run. The first process alone writes files and prints. Returns the same exit
/// code in all processes. To be called before any thread or file exists.
int run_over_processes(const RunCommand& command);

}  // namespace t3vp
