#include "experiment/case_loader.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiment/axis_values.h"
#include "experiment/experiment_parts.h"

namespace t3vp {
namespace {

using nlohmann::json;

constexpr std::size_t most_cases = 10'000;

/// One entry of the product's factors.
struct Axis {
  ExperimentAxis axis;
  std::vector<ExperimentCase> entries;
};

bool names_a_file(const std::string& key) { return key == "system" || key == "models" || key == "system.memory.file"; }

/// "key=value" of the value at this pointer.
std::string setting_of(const Document& document, const std::string& key, const std::string& pointer) {
  const json& value = document.content.at(json::json_pointer(pointer));
  if (!names_a_file(key) || !value.is_string()) return key + "=" + value.dump();
  return key + "=" + json(std::filesystem::absolute(document.file_at(pointer, "file")).string()).dump();
}

ExperimentCase case_of(const Document& document, const std::string& pointer) {
  const std::string name = document.content.at(json::json_pointer(pointer + "/name")).get<std::string>();
  return {name, {name}, settings_of(document, pointer + "/set"), pointer};
}

Axis axis_of_cases(const Document& document, const std::string& pointer) {
  Axis axis;
  for (std::size_t i = 0; i < document.content.at(json::json_pointer(pointer)).size(); ++i) {
    axis.entries.push_back(case_of(document, pointer + "/" + std::to_string(i)));
    axis.axis.names.push_back(axis.entries.back().name);
  }
  return axis;
}

Axis axis_of_values(const Document& document, const std::string& pointer) {
  const AxisValues values = axis_values(document, pointer);
  Axis axis{{values.names, values.key, values.numbers}, {}};
  for (std::size_t i = 0; i < values.names.size(); ++i) {
    const std::string setting = values.numbers.empty()
                                    ? setting_of(document, values.key, fmt::format("{}/values/{}", pointer, i))
                                    : values.key + "=" + values.values[i];
    axis.entries.push_back({values.names[i], {values.names[i]}, {setting}, pointer});
  }
  return axis;
}

ExperimentCase joined(ExperimentCase first, const ExperimentCase& second) {
  first.name += " " + second.name;
  first.tags.insert(first.tags.end(), second.tags.begin(), second.tags.end());
  first.settings.insert(first.settings.end(), second.settings.begin(), second.settings.end());
  first.pointer = second.pointer;
  return first;
}

std::vector<Axis> axes_of(const Document& document) {
  if (!document.content.contains("cross")) return {axis_of_cases(document, "/cases")};
  std::vector<Axis> axes;
  for (const json& entry : document.content.at("cross")) {
    const std::string pointer = pointer_to("cross", axes.size());
    axes.push_back(entry.is_array() ? axis_of_cases(document, pointer) : axis_of_values(document, pointer));
  }
  return axes;
}

}  // namespace

std::vector<std::string> settings_of(const Document& document, const std::string& pointer) {
  std::vector<std::string> settings;
  for (const auto& item : document.content.at(json::json_pointer(pointer)).items()) {
    const json::json_pointer place = json::json_pointer(pointer) / item.key();
    if (item.key() == "method") document.reject(place.to_string(), "the method under methods");
    settings.push_back(setting_of(document, item.key(), place.to_string()));
  }
  return settings;
}

void read_cases(const Document& document, Experiment& experiment) {
  const bool crossed = document.content.contains("cross");
  if (document.content.contains("cases") == crossed)
    document.reject("/cases", crossed ? "both cases and cross" : "neither cases nor cross", "one of them");
  for (const Axis& axis : axes_of(document)) {
    experiment.axes.push_back(axis.axis);
    if (experiment.cases.size() * axis.entries.size() > most_cases)
      document.reject("/cross", fmt::format("at most {} cases", most_cases));
    std::vector<ExperimentCase> longer;
    for (const ExperimentCase& one : experiment.cases)
      for (const ExperimentCase& entry : axis.entries) longer.push_back(joined(one, entry));
    experiment.cases = experiment.cases.empty() ? axis.entries : std::move(longer);
  }
  require_distinct(document, experiment.cases, crossed ? "cross" : "cases");
  for (const ExperimentCase& one : experiment.cases)
    if (one.name == "geomean")
      document.reject(crossed ? "/cross" : "/cases", "a case geomean",
                      "another name: the last row of the results' table has it");
}

}  // namespace t3vp
