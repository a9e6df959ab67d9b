// Takes the figures of the report from a node that has finished.
#pragma once

#include <vector>

#include "config/configuration.h"
#include "node/node.h"
#include "report/report.h"
#include "run/phase_table.h"
#include "run/traffic_meter.h"

namespace t3vp {

struct GpuFigures {
  DramBytes dram_bytes{};
  double bytes_in_total = 0;  ///< tensor data that its DRAM had to move within the total time
  std::uint64_t dram_accesses = 0;
  TrackerFigures tracker;
  std::vector<Statistic> statistics;
};

/// What a node's blocks have counted, as values: they may come from several processes.
struct NodeFigures {
  std::vector<GpuFigures> gpus;
  std::vector<LinkFigures> links;
};

NodeFigures figures_of(const RunConfiguration& configuration, const Node& node, const PhaseTable& phases,
                       const TrafficMeter& meter);

/// Everything but the functional check, the diagnosis and the host's cost.
void set_figures(const RunConfiguration& configuration, const PhaseTable& phases, const NodeFigures& node,
                 RunResult& result);

/// Both, for a node of one process.
void gather_figures(const RunConfiguration& configuration, const Node& node, const TrafficMeter& meter,
                    RunResult& result);

}  // namespace t3vp
