// The errors of a run's programs and kernels, for its diagnosis.
#pragma once

#include <cstdint>

#include "progress/pulse.h"
#include "report/report.h"

namespace t3vp {

/// A GPU's error log has got more entries than the limit.
bool errs_without_end(const Pulse& pulse, std::uint64_t limit);

// All ranks of a run call these at the same time.

/// Adds the run's first failure of a driver call that its program has neither read nor returned.
void report_unread_error(const AllGpus& all, RunResult& result);

/// Adds the errors that firmware and its GPU's blocks have reported. A guest may err thousands of times.
void report_errors(const AllGpus& all, RunResult& result);

}  // namespace t3vp
