// The errors of a run's programs and kernels, for its diagnosis.
#pragma once

#include <cstdint>

#include "node/node.h"
#include "report/report.h"

namespace t3vp {

/// A GPU's error log has got more entries than the limit.
bool errs_without_end(const Node& node, std::uint64_t limit);

/// Adds the run's first failure of a driver call that its program has neither read nor returned.
void report_unread_error(const Node& node, RunResult& result);

/// Adds the errors that firmware and its GPU's blocks have reported. A guest may err thousands of times.
void report_errors(const Node& node, RunResult& result);

}  // namespace t3vp
