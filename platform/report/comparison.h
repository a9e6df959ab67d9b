// The figures in which two reports differ.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace t3vp {

struct Difference {
  std::string figure;              ///< "time_ns.total", "links.0_to_3.payload_bytes", "gpu0.dram.row_hit_rate"
  std::string first, second;       ///< "-" where a report does not have it
  std::optional<double> relative;  ///< (second - first) / first, for numbers
  bool inside_spread = false;      ///< a time of which the reports' replicates overlap: it may be chance
};

/// Everything but `host`, `warnings` and `replicates`, in the order of the figures' names. Empty: the same.
std::vector<Difference> differences(const nlohmann::json& first, const nlohmann::json& second);

/// The differences of numbers in order of their relative size, those without one last. Of a metric that all GPUs or
/// links have it is the one that differs most. At most `count`. Parts of times are left out, which explanation.h
/// compares.
std::vector<Difference> largest(const std::vector<Difference>& differences, std::size_t count);

/// Where the reports' workloads differ, as "workload/gemm/m"; empty where they are the same. A workload's name and how
/// it is computed play no part.
std::string different_workload(const nlohmann::json& first, const nlohmann::json& second);

/// One line with what only one of two totals contains or what differs in it; empty where they mean the same.
/// A fused phase stands for a GEMM and its reduce-scatter. Link bytes are held against each other on as many GPUs and
/// links alone, and may differ by 1%.
std::string warning_of_totals(const nlohmann::json& first, const nlohmann::json& second);

std::string difference_table(const std::vector<Difference>& differences);

}  // namespace t3vp
