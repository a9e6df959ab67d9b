// The reports of an experiment as they come: rows of figures, quantities, targets.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiment/experiment.h"
#include "experiment/plan.h"
#include "experiment/value_range.h"
#include "report/report_figures.h"

namespace t3vp {

struct Failure {
  std::string rows;    ///< cases and methods that need the run
  std::string reason;  ///< one line
  std::filesystem::path log;
};

/// A target as it came out.
struct Comparison {
  std::string id, text;
  std::string reference;  ///< a number, or what a limit says
  std::string tolerance;  ///< an amount or a percentage of the reference; empty: none
  double ours = 0;        ///< NaN when figures are missing
  std::optional<double> difference;
  std::string verdict;  ///< met, missed, reported, not available, error
};

class Results {
 public:
  /// `runs`: the folder of the runs' folders.
  Results(const Experiment& experiment, const Plan& plan, std::filesystem::path runs);

  std::filesystem::path folder_of(std::size_t run) const;
  /// Takes the run's report if there is one that this program would write again.
  bool take_finished(std::size_t run);
  /// Notes a failure when a process has begun the run and left no report. False when there is none such.
  bool take_broken_off(std::size_t run);
  /// Takes what an ended run has left; without a report that it passed, notes a failure.
  void take_ended(std::size_t run, int exit_code);

  /// The failures, by the number of the run.
  const std::map<std::size_t, Failure>& failures() const { return failures_; }
  /// The row's figures; none while its run is missing.
  std::optional<Figures> row(const PlannedRow& row) const;
  /// Computes quantities and compares targets with what has been taken. To be called before what follows.
  void evaluate();
  /// NaN when figures are missing or have no result.
  double value_of(std::size_t quantity, std::size_t case_index) const { return values_[quantity][case_index]; }
  double value_of(const std::string& key, std::size_t case_index, const std::string& method) const;
  /// How the row's collectives work; empty while its run is missing, or without collectives.
  std::string algorithms(std::size_t case_index, const std::string& method) const;
  /// How far a quantity's values are apart over replicates; none where it makes use of no time.
  std::optional<ValueRange> range_of(std::size_t quantity, std::size_t case_index) const;
  /// The same of a figure of a method's report; none of one that is no time.
  std::optional<ValueRange> range_of(const std::string& key, std::size_t case_index, const std::string& method) const;
  /// The same of the geomeans over all cases.
  std::optional<ValueRange> range_of_geomean(std::size_t quantity) const;
  const std::vector<Comparison>& comparisons() const { return comparisons_; }
  /// Quantities and targets whose arithmetic has no result, a line with the place each.
  const std::vector<std::string>& errors() const { return errors_; }

  /// results.csv: all rows there are.
  std::string results_csv() const;

 private:
  void take(std::size_t run, nlohmann::json report, int exit_code);
  bool has_reports(const PlannedRow& row) const;
  const PlannedRow& row_of(std::size_t case_index, const std::string& method) const;
  std::string rows_with(std::size_t run) const;
  std::vector<double> values_of(std::size_t quantity);
  std::vector<double> values_of_replicates(const Quantity& quantity, std::size_t case_index) const;
  double value_of_replicate(const std::string& key, std::size_t case_index, const std::string& method,
                            std::size_t replicate) const;
  Comparison comparison(std::size_t target);

  const Experiment& experiment_;
  const Plan& plan_;
  std::filesystem::path runs_folder_;
  std::map<std::size_t, nlohmann::json> reports_;  ///< of runs that passed
  std::map<std::size_t, Failure> failures_;
  std::vector<std::vector<double>> values_;                   ///< of quantities by case
  std::vector<std::vector<std::vector<double>>> replicates_;  ///< of quantities by case; empty: not of times
  std::vector<Comparison> comparisons_;
  std::vector<std::string> errors_;
};

/// compare.csv.
std::string comparison_csv(const std::vector<Comparison>& comparisons);

/// NaN when one of them is. Throws ArithmeticError when there are none, or a geomean has one that is not positive.
double aggregate(Aggregate how, const std::vector<double>& values);

}  // namespace t3vp
