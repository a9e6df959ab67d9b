// What cycle-level simulators gave (reference_figures.csv) beside what the channel gives on the same traces.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dram/replay.h"

namespace t3vp::dram {

struct ReferenceFigures {
  std::string simulator, config, trace;
  double bandwidth_GBps = 0;
  std::optional<double> latency_mean_ns, latency_p50_ns, latency_p99_ns;
  double row_hit_rate = 0;
};

std::vector<ReferenceFigures> reference_figures();

/// The memory that corresponds to a configuration of the references, such as accelsim1g_bgint_q256.
MemorySpec memory_of_config(const std::string& config);

ReplayResult replay_reference(const std::string& config, const std::string& trace, bool writes_are_updates = false);

}  // namespace t3vp::dram
