// Functions that commands share which make a table of runs.
#pragma once

#include "experiment/plan.h"
#include "experiment/results.h"
#include "report/results_folder.h"

namespace t3vp {

/// That this process may run on.
unsigned available_cores();

/// Adds what the runs' folders will have.
void add_runs(Outputs& outputs, const Plan& plan, const Results& results);

/// A line on standard error for each run that failed.
void print_failures(const Results& results);

}  // namespace t3vp
