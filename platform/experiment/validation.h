// Measured times beside simulated ones.
#pragma once

#include <string>
#include <vector>

#include "experiment/experiment.h"
#include "experiment/measurements.h"
#include "experiment/results.h"

namespace t3vp {

/// A case for each part of each time, in their order, on the embedded system of that name. `data` is the folder that
/// messages name.
Experiment experiment_of(const std::vector<Measurement>& times, const std::string& system,
                         const std::filesystem::path& data);

struct PredictedTime {
  const Measurement* measurement;
  double simulated_us;  ///< NaN where the run has failed

  /// Simulated over measured, less 1.
  double error() const { return simulated_us / measurement->measured_us - 1; }
};

/// In the order of `times`, of which the experiment has been made and all runs taken into `results`.
std::vector<PredictedTime> predicted_times(const std::vector<Measurement>& times, const Experiment& experiment,
                                           const Results& results);

/// A line per time: file, row, quantity, measured_us, simulated_us, error.
std::string validation_csv(const std::vector<PredictedTime>& times);

/// A line per file and quantity: mean and worst absolute error, and where the worst is.
std::string validation_table(const std::vector<PredictedTime>& times);

}  // namespace t3vp
