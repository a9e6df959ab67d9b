// What `t3vp experiment` does for several machines in place of making all runs and their results.
#pragma once

#include <filesystem>

#include "cli/command_line.h"
#include "experiment/missing_runs.h"
#include "experiment/plan.h"
#include "experiment/results.h"

namespace t3vp {

// Each returns the exit code.

/// Throws InputError when something other than a folder is where the runs would be.
int print_states(const Plan& plan, const std::filesystem::path& runs, Results& results);
int make_shard(const Experiment& experiment, const Plan& plan, const RunOutline& outline, Results& results,
               const std::filesystem::path& runs);
/// Throws InputError without a folder of runs that is named, or when Slurm refuses a job.
int submit_to_slurm(const ExperimentCommand& command, const Plan& plan, Results& results,
                    const std::filesystem::path& out);

}  // namespace t3vp
