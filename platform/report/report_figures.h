// A report as flat figures, under the one name that each has in results.csv, in comparisons and in expressions; and the
// report of an ideal method put together from runs of its phases.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace t3vp {

/// Report values by dotted key: "time_ns.total"; statistics by their names, "gpu0.cache.hit_rate"; of links
/// "links.0_to_3.wire_bytes"; of a layer's operations "operations.softmax.time_ns".
using Figures = std::map<std::string, nlohmann::json>;

/// Everything but `host`.
Figures figures_of(const nlohmann::json& report);

/// What a row of results.csv has of it: statistics of GPU 0 alone; the link with most wire bytes once more under a name
/// that does not depend on the number of GPUs, "links.busiest.wire_bytes".
Figures row_figures(const nlohmann::json& report);

/// An ideal method's figures from three reports, of which each has simulated the phase it is named after. Only figures
/// that belong to one phase are among them.
Figures combined_figures(const nlohmann::json& gemm, const nlohmann::json& reduce_scatter,
                         const nlohmann::json& all_gather);

/// NaN where there is no such number.
double figure(const Figures& figures, const std::string& key);

/// Whether reports have a number under the dotted key.
bool is_numeric_key(const std::string& key);

}  // namespace t3vp
