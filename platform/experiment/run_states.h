// How far the runs of an experiment are, whoever makes them.
#pragma once

#include "experiment/plan.h"
#include "experiment/results.h"

namespace t3vp {

struct RunStates {
  std::size_t passed = 0;
  std::size_t running = 0;  ///< a process has the lock
  std::size_t failed = 0;   ///< the results have the reasons
  std::size_t missing = 0;  ///< nobody has begun it
};

/// Takes reports and failures into `results`. Changes nothing in the folder of runs.
RunStates look_at_runs(const Plan& plan, Results& results);

}  // namespace t3vp
