#include "experiment/validation.h"

#include <fmt/format.h>

#include <cmath>

#include "experiment/csv.h"
#include "system/embedded_system.h"

namespace t3vp {
namespace {

constexpr const char* method_name = "simulated";
constexpr double ns_per_us = 1000;

/// The errors of one quantity of a file.
struct Errors {
  std::string file, quantity;
  std::size_t count = 0, worst_row = 0;
  double sum = 0, worst = 0;  ///< of absolute errors; the worst with its sign

  void add(const PredictedTime& time) {
    const double error = time.error();
    if (std::abs(error) >= std::abs(worst)) {
      worst = error;
      worst_row = time.measurement->row;
    }
    sum += std::abs(error);
    ++count;
  }
};

/// In ns; nothing that runs has it.
double host_launch(const Experiment& experiment) {
  return experiment.base.content.at("system").value("host", nlohmann::json::object()).value("launch_ns", 0.0);
}

Errors& errors_of(std::vector<Errors>& all, const Measurement& m) {
  for (Errors& errors : all)
    if (errors.file == m.file && errors.quantity == m.quantity) return errors;
  return all.emplace_back(Errors{m.file, m.quantity});
}

}  // namespace

Experiment experiment_of(const std::vector<Measurement>& times, const std::string& system,
                         const std::filesystem::path& data) {
  Experiment experiment;
  experiment.file = data;
  experiment.name = system;
  experiment.base = {system, "", {{"system", embedded_system(system)}}, {}};
  experiment.methods = {{method_name, {}, system}};
  for (const Measurement& time : times) {
    const std::string place = fmt::format("{}: row {}", time.file, time.row);
    for (std::size_t i = 0; i < time.parts.size(); ++i)
      experiment.cases.push_back(
          {fmt::format("{} {}{}", place, time.quantity, i == 0 ? "" : fmt::format(", {}", i + 1)),
           {},
           time.parts[i].settings,
           place});
  }
  return experiment;
}

std::vector<PredictedTime> predicted_times(const std::vector<Measurement>& times, const Experiment& experiment,
                                           const Results& results) {
  std::vector<PredictedTime> predicted;
  std::size_t run = 0;  // in the order of the cases
  for (const Measurement& time : times) {
    double ns = time.has_host_launch ? host_launch(experiment) : 0;
    for (const PartOfTime& part : time.parts)
      ns += part.times * results.value_of(part.figure, run++, experiment.methods[0].name);
    predicted.push_back({&time, ns / ns_per_us});
  }
  return predicted;
}

std::string validation_csv(const std::vector<PredictedTime>& times) {
  std::string text = csv_line({"file", "row", "quantity", "measured_us", "simulated_us", "error"});
  for (const PredictedTime& time : times) {
    const Measurement& m = *time.measurement;
    const bool is_there = !std::isnan(time.simulated_us);
    text += csv_line({m.file, fmt::format("{}", m.row), m.quantity, fmt::format("{}", m.measured_us),
                      is_there ? fmt::format("{:.3f}", time.simulated_us) : "",
                      is_there ? fmt::format("{:.4f}", time.error()) : ""});
  }
  return text;
}

std::string validation_table(const std::vector<PredictedTime>& times) {
  std::vector<Errors> all;
  for (const PredictedTime& time : times) {
    Errors& errors = errors_of(all, *time.measurement);
    if (!std::isnan(time.simulated_us)) errors.add(time);
  }
  std::string text =
      fmt::format("{:<26}{:<14}{:>6}{:>13}{:>14}\n", "file", "quantity", "rows", "mean error", "worst error");
  for (const Errors& errors : all) {
    text += fmt::format("{:<26}{:<14}{:>6}", errors.file, errors.quantity, errors.count);
    if (errors.count != 0)
      text += fmt::format("{:>12.1f}%{:>+13.1f}%  in row {}", 100 * errors.sum / static_cast<double>(errors.count),
                          100 * errors.worst, errors.worst_row);
    text += "\n";
  }
  return text;
}

}  // namespace t3vp
