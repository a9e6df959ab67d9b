// A run in one process and one of several share these functions.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "report/progress_line.h"
#include "run/simulation.h"

namespace t3vp {

/// Simulates with this line of progress, in the first process alone, and measures what it costs the host.
RunResult measured_run(const RunConfiguration& configuration, RunOptions options, ProgressLine& line);

/// Writes report.json to the folder, and prints the table with the path that the user has given.
void write_report(const nlohmann::ordered_json& report, const std::filesystem::path& asked,
                  const std::filesystem::path& folder);

}  // namespace t3vp
