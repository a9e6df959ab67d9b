// Which runs an experiment takes: equal ones once, and phases that methods share once.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiment/experiment.h"

namespace t3vp {

struct PlannedRun {
  nlohmann::json run_file;  ///< everything written inline, without names that only people need
  std::string config_hash;  ///< of the run file
  std::string name;         ///< config_hash and the limits, if there are any: what makes runs different
  double weight = 0;        ///< bytes of its tensors, a measure of its cost
};

inline constexpr std::size_t no_run = static_cast<std::size_t>(-1);

/// A case by a method. The three phases come from one run, or, with an ideal method, from several.
struct PlannedRow {
  std::size_t case_index = 0, method_index = 0;
  std::string config_hash;
  std::size_t gemm = 0, reduce_scatter = 0, all_gather = 0;  ///< runs; no_run: its run is refused

  bool is_whole() const { return gemm == reduce_scatter && gemm == all_gather; }
};

struct Plan {
  std::vector<PlannedRun> runs;
  std::vector<PlannedRow> rows;  ///< case after case, method after method
};

/// Throws InputError about the case or method that makes a run wrong.
Plan make_plan(const Experiment& experiment);
/// The same, but a case or method that makes a run wrong is a line of `refused`, and has no run.
Plan make_plan(const Experiment& experiment, std::vector<std::string>& refused);

}  // namespace t3vp
