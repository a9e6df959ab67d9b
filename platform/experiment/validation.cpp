#include "experiment/validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "experiment/csv.h"
#include "system/embedded_system.h"

namespace t3vp {
namespace {

constexpr const char* method_name = "simulated";

/// Of a report's figure in the value's unit: reports have ns, bytes, and so bytes per ns, which are GB/s.
double figures_in(const std::string& unit) {
  constexpr double ns_per_us = 1000;
  return unit == "us" ? ns_per_us : 1;
}

/// The errors of a file, or of one quantity of it.
struct Errors {
  std::string name, worst_place;
  std::size_t count = 0;
  double distances = 0, logarithms = 0, worst = 0;  ///< sums of |ln(s / m)| and ln(s / m); error of the worst

  void add(const Prediction& one) {
    const double logarithm = std::log(one.simulated / one.measurement->measured);
    if (count == 0 || std::abs(logarithm) > std::abs(std::log1p(worst))) {
      worst = one.error();
      worst_place = fmt::format("row {} {}", one.measurement->row, one.measurement->quantity);
    }
    distances += std::abs(logarithm);
    logarithms += logarithm;
    ++count;
  }

  std::string line() const {
    std::string text = fmt::format("{:<40}{:>6}", name, count);
    if (count == 0) return text + "\n";
    const auto percent = [&](double sum) { return 100 * std::expm1(sum / static_cast<double>(count)); };
    return text + fmt::format("{:>9.1f}%{:>+9.1f}%{:>+9.1f}%  in {}\n", percent(distances), percent(logarithms),
                              100 * worst, worst_place);
  }
};

/// In ns; nothing that runs has it.
double host_launch(const Experiment& experiment) {
  return experiment.base.content.at("system").value("host", nlohmann::json::object()).value("launch_ns", 0.0);
}

/// The sum of parts, of which `run` is the next one's case.
double sum_of(const std::vector<PartOfValue>& parts, const Results& results, std::size_t& run) {
  double sum = 0;
  for (const PartOfValue& part : parts)
    sum += part.times * (part.figure.empty() ? 1 : results.value_of(part.figure, run++, method_name));
  return sum;
}

std::vector<PartOfValue> all_parts(const Measurement& value) {
  std::vector<PartOfValue> parts = value.parts;
  parts.insert(parts.end(), value.divided_by.begin(), value.divided_by.end());
  return parts;
}

std::vector<Prediction> of_file(const std::vector<Prediction>& predictions, const std::string& file) {
  std::vector<Prediction> its;
  std::copy_if(predictions.begin(), predictions.end(), std::back_inserter(its),
               [&](const Prediction& one) { return one.measurement->file == file; });
  return its;
}

std::string errors_of_file(const std::string& file, const std::vector<Prediction>& its) {
  Errors all{file, ""};
  std::vector<Errors> by_quantity;
  for (const Prediction& one : its) {
    const std::string name = "  " + one.measurement->quantity;
    auto found =
        std::find_if(by_quantity.begin(), by_quantity.end(), [&](const Errors& errors) { return errors.name == name; });
    if (found == by_quantity.end()) found = by_quantity.insert(by_quantity.end(), Errors{name, ""});
    if (!one.has_ratio()) continue;
    all.add(one);
    found->add(one);
  }
  std::string text = all.line();
  if (by_quantity.size() > 1)
    for (const Errors& errors : by_quantity) text += errors.line();
  return text;
}

}  // namespace

bool Prediction::is_there() const { return std::isfinite(simulated); }

bool Prediction::has_ratio() const { return is_there() && simulated > 0; }

Experiment experiment_of(const std::vector<Measurement>& values, const std::string& system,
                         const std::filesystem::path& data) {
  Experiment experiment;
  experiment.file = data;
  experiment.name = system;
  experiment.base = {system, "", {{"system", embedded_system(system)}}, {}};
  experiment.methods = {{method_name, {}, system}};
  for (const Measurement& value : values) {
    const std::string place = fmt::format("{}: row {}", value.file, value.row);
    std::size_t number = 0;
    for (PartOfValue& part : all_parts(value)) {
      if (part.figure.empty()) continue;
      const std::string which = number++ == 0 ? "" : fmt::format(", {}", number);
      experiment.cases.push_back(
          {fmt::format("{} {}{}", place, value.quantity, which), {}, std::move(part.settings), place});
    }
  }
  return experiment;
}

std::vector<Prediction> predictions_of(const std::vector<Measurement>& values, const Experiment& experiment,
                                       const Results& results) {
  std::vector<Prediction> predictions;
  std::size_t run = 0;  // in the order of the cases
  for (const Measurement& value : values) {
    double simulated = sum_of(value.parts, results, run) + value.host_launches * host_launch(experiment);
    if (!value.divided_by.empty()) simulated /= sum_of(value.divided_by, results, run);
    predictions.push_back({&value, simulated / figures_in(value.unit)});
  }
  return predictions;
}

std::string validation_csv(const std::vector<Prediction>& predictions) {
  std::string text = csv_line({"file", "row", "quantity", "unit", "measured", "simulated", "error"});
  for (const Prediction& one : predictions) {
    const Measurement& m = *one.measurement;
    text += csv_line({m.file, fmt::format("{}", m.row), m.quantity, m.unit, fmt::format("{}", m.measured),
                      one.is_there() ? fmt::format("{:.{}f}", one.simulated, m.unit == "J" ? 6 : 3) : "",
                      one.is_there() ? fmt::format("{:.4f}", one.error()) : ""});
  }
  return text;
}

std::string validation_table(const std::vector<Prediction>& predictions) {
  std::string text = fmt::format("{:<40}{:>6}{:>10}{:>10}{:>10}\n", "file", "values", "error", "bias", "worst");
  for (const std::string& file : files_of(predictions)) text += errors_of_file(file, of_file(predictions, file));
  return text;
}

std::vector<std::string> values_without_ratio(const std::vector<Prediction>& predictions) {
  std::vector<std::string> lines;
  for (const Prediction& one : predictions)
    if (one.is_there() && !one.has_ratio())
      lines.push_back(fmt::format("{}: row {}: {} is {} simulated and {} measured: in no mean and no picture",
                                  one.measurement->file, one.measurement->row, one.measurement->quantity, one.simulated,
                                  one.measurement->measured));
  return lines;
}

std::vector<std::string> incomplete_files(const std::vector<Prediction>& predictions) {
  constexpr double enough = 0.95;
  std::vector<std::string> lines;
  for (const std::string& file : files_of(predictions)) {
    std::map<std::size_t, bool> rows;  // whether all values are there
    for (const Prediction& one : of_file(predictions, file)) {
      const auto [row, is_new] = rows.emplace(one.measurement->row, true);
      row->second = row->second && one.is_there();
    }
    const auto complete = std::count_if(rows.begin(), rows.end(), [](const auto& row) { return row.second; });
    if (static_cast<double>(complete) < enough * static_cast<double>(rows.size()))
      lines.push_back(fmt::format("{}: {} of {} rows simulated, expected {:.0f}% or more", file, complete, rows.size(),
                                  100 * enough));
  }
  return lines;
}

std::vector<std::string> files_of(const std::vector<Prediction>& predictions) {
  std::vector<std::string> files;
  for (const Prediction& one : predictions)
    if (std::find(files.begin(), files.end(), one.measurement->file) == files.end())
      files.push_back(one.measurement->file);
  return files;
}

}  // namespace t3vp
