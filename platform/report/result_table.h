// Reports as text for a terminal of 80 columns.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace t3vp {

/// One run: time per phase, DRAM traffic per class, links, bounds and the verdict.
std::string result_table(const nlohmann::ordered_json& report);

/// The run in a line: workload, system, GPUs, method.
std::string run_title(const nlohmann::ordered_json& report);

/// Several runs side by side: total time with bars, speedup over the first one, also with the time that zeroing the
/// output takes, set-up (before the total), DRAM traffic. Each has a label.
/// How the run's collectives work, as in "all-gather ring; reduce-scatter fused ring". Empty when it has none.
std::string collective_algorithms(const nlohmann::json& report);

std::string overview_table(const std::vector<nlohmann::json>& reports, const std::vector<std::string>& labels);

/// `share` of a full bar, 0 to 1.
std::string bar(double share, std::size_t full_width = 36);

}  // namespace t3vp
