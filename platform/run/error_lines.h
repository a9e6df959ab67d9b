// What firmware and its GPU's blocks have reported, as lines of the diagnosis.
#pragma once

#include "node/node.h"
#include "report/report.h"

namespace t3vp {

/// Adds the run's first failure of a driver call that its program has neither read nor returned.
void report_unread_error(const Node& node, RunResult& result);

/// Adds the errors that firmware and its GPU's blocks have reported.
void report_errors(const Node& node, RunResult& result);

}  // namespace t3vp
