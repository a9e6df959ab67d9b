// Measured values beside simulated ones.
#pragma once

#include <string>
#include <vector>

#include "experiment/experiment.h"
#include "experiment/measurements.h"
#include "experiment/results.h"

namespace t3vp {

/// A case for each part of each value, in their order, on the embedded system of that name. `data` is the folder that
/// messages name.
Experiment experiment_of(const std::vector<Measurement>& values, const std::string& system,
                         const std::filesystem::path& data);

struct Prediction {
  const Measurement* measurement;
  double simulated;  ///< in the measured value's unit; NaN where a run has failed or is refused

  bool is_there() const;
  /// It is there and above 0: means of ratios and pictures have it.
  bool has_ratio() const;
  /// Simulated over measured, less 1.
  double error() const { return simulated / measurement->measured - 1; }
};

/// In the order of `values`, of which the experiment has been made and all runs taken into `results`.
std::vector<Prediction> predictions_of(const std::vector<Measurement>& values, const Experiment& experiment,
                                       const Results& results);

/// A line per value: file, row, quantity, unit, measured, simulated, error.
std::string validation_csv(const std::vector<Prediction>& predictions);

/// A line per file, and one per quantity where a file has several: exp(mean |ln(simulated / measured)|) - 1, the bias
/// exp(mean ln(simulated / measured)) - 1, and the worst error with its row.
std::string validation_table(const std::vector<Prediction>& predictions);

/// A line for each value that is there and has no ratio.
std::vector<std::string> values_without_ratio(const std::vector<Prediction>& predictions);

/// A line for each file of which less than 95% of the rows have all their values.
std::vector<std::string> incomplete_files(const std::vector<Prediction>& predictions);

/// The files of the values, each once.
std::vector<std::string> files_of(const std::vector<Prediction>& predictions);

}  // namespace t3vp
