// Communication that no compute hides, as times of a run.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "report/report.h"

namespace t3vp {

/// "exposed_PHASE" for each phase of communication that the run had: its time in ns without the compute phases within
/// it. Phases that ran apart count as if they ran at once: the reduce-scatter without the time of the GEMM, at least 0.
/// The last one is their sum, "exposed_communication". Empty: no phase is known to be communication.
std::vector<std::pair<std::string, double>> exposed_times(const RunTimes& times, bool runs_apart);

}  // namespace t3vp
