// A report as flat figures, and the report of an ideal method put together from runs of its phases.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace t3vp {

/// Report values by dotted key ("time_ns.total"); of the statistics, those of GPU 0 ("statistics.gpu0.cache.hit_rate"),
/// of a layer's operations, their own ("operations.softmax.time_ns").
using Figures = std::map<std::string, nlohmann::json>;

Figures figures_of(const nlohmann::json& report);

/// An ideal method's figures from three reports, of which each has simulated the phase it is named after.
Figures combined_figures(const nlohmann::json& gemm, const nlohmann::json& reduce_scatter,
                         const nlohmann::json& all_gather);

/// NaN where there is no such number.
double figure(const Figures& figures, const std::string& key);

/// Whether reports have a number under the dotted key.
bool is_numeric_key(const std::string& key);

}  // namespace t3vp
