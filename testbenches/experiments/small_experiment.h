// A valid experiment of a few small runs, for tests to change, and its results.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "command_line/program.h"

namespace t3vp::test {

/// experiment.json and reference.csv beside a run of small-4: two shapes by three methods.
class SmallExperiment : public ValidFiles {
 public:
  SmallExperiment();
  std::filesystem::path file() const { return *this / "experiment.json"; }
  std::filesystem::path out(const std::string& name = "results") const { return *this / name; }
  Outcome run(const std::string& out_name = "results", const std::vector<std::string>& more = {}) const;
  /// Folders of runs.
  std::vector<std::filesystem::path> runs(const std::string& out_name = "results") const;
};

/// The lines of a CSV file without quotes, each value by its column.
std::vector<std::map<std::string, std::string>> rows_of(const std::filesystem::path& csv);
/// The number in the row of that case and method.
double value(const std::filesystem::path& csv, const std::string& one, const std::string& method,
             const std::string& key);

}  // namespace t3vp::test
