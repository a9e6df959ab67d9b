// Takes the figures of the report from a node that has finished.
#pragma once

#include "config/configuration.h"
#include "node/node.h"
#include "report/report.h"
#include "run/traffic_meter.h"

namespace t3vp {

/// Everything but the functional check, the diagnosis and the host's cost.
void gather_figures(const RunConfiguration& configuration, const Node& node, const TrafficMeter& meter,
                    RunResult& result);

}  // namespace t3vp
