// Runs of programs that are libraries, on small-4 and with no workload.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command_line/program.h"

namespace t3vp::test {

/// The path of a library of this folder.
std::string library(const std::string& name);

/// A run file with `program` and what else `more` says; it is valid as far as the program is.
class OutsideRun : public Folder {
 public:
  explicit OutsideRun(const std::string& program, const nlohmann::json& more = nlohmann::json::object());

  std::filesystem::path file() const { return *this / "run.json"; }
  Outcome run(const std::vector<std::string>& more = {}) const;
  /// The run's report.
  nlohmann::ordered_json report() const;
};

/// Refused as bad input in one line, which begins with the place in the run file.
void require_refused(const OutsideRun& run, const std::string& place, const std::string& found,
                     const std::string& expected);

}  // namespace t3vp::test
