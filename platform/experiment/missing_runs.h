// The runs of an experiment that do not exist yet, shared by all processes that need them.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "experiment/plan.h"
#include "experiment/results.h"
#include "experiment/shard.h"

namespace t3vp {

struct RunOutline {
  unsigned jobs = 1;                ///< runs at a time
  std::optional<double> timeout_s;  ///< of each run
  Shard shard;                      ///< the runs that are made; the others are not taken either
  unsigned most_attempts = 1;       ///< at a run that crashes or reaches a limit
  std::string submission = {};      ///< whose jobs share these attempts (attempts.h); empty: nobody does
};

/// Makes the runs that have no current report, `jobs` at a time, and takes all runs into `results`. A run is made
/// under a lock. A run that is made again is named on standard error. When another process makes a run, it is left to
/// that process and taken when it has ended. Calls `changed` when runs have ended.
void make_missing_runs(const Experiment& experiment, const Plan& plan, const RunOutline& outline, Results& results,
                       const std::function<void()>& changed);

}  // namespace t3vp
