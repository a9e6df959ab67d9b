#include "experiment/axis_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "io/schema_check.h"

namespace t3vp {
namespace {

using nlohmann::json;

std::string text_of(double number) { return fmt::format("{}", number); }

std::string name_of(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_number_float() ? text_of(value.get<double>()) : value.dump();
}

void require(const Document& document, const std::string& pointer, const std::string& key, bool condition,
             const std::string& expected) {
  if (!condition) document.reject(pointer + "/" + key, expected);
}

/// Between the ends numbers have six digits, for people.
double step_of(double from, double to, std::size_t step, std::size_t last, bool logarithmic) {
  if (step == 0) return from;
  if (step == last) return to;
  const double share = static_cast<double>(step) / static_cast<double>(last);
  return std::stod(fmt::format("{:.6g}", logarithmic ? from * std::pow(to / from, share) : from + share * (to - from)));
}

std::vector<double> steps_of(const Document& document, const std::string& pointer, bool whole) {
  const json& entry = document.content.at(json::json_pointer(pointer));
  for (const char* key : {"from", "to", "steps"})
    require(document, pointer, key, entry.contains(key), "a value, unless there is a list of values");
  const bool logarithmic = entry.value("scale", "linear") == "logarithmic";
  for (const char* end : {"from", "to"})
    require(document, pointer, end, !logarithmic || entry.at(end).get<double>() > 0,
            "a number above 0 for a logarithmic scale");
  for (const char* end : {"from", "to"})
    require(document, pointer, end, !whole || entry.at(end).get<double>() == std::round(entry.at(end).get<double>()),
            "a whole number, as the key takes");
  const auto steps = entry.at("steps").get<std::size_t>();
  std::vector<double> numbers;
  for (std::size_t i = 0; i < steps; ++i) {
    const double number =
        step_of(entry.at("from").get<double>(), entry.at("to").get<double>(), i, steps - 1, logarithmic);
    numbers.push_back(whole ? std::round(number) : number);
    if (i > 0 && numbers[i] == numbers[i - 1])
      document.reject(pointer + "/steps", fmt::format("{} twice in {} steps", text_of(numbers[i]), steps),
                      whole ? "fewer steps, as the key takes whole numbers" : "two ends that differ");
  }
  return numbers;
}

void require_no_range(const Document& document, const std::string& pointer) {
  const json& entry = document.content.at(json::json_pointer(pointer));
  for (const char* key : {"from", "to", "steps", "scale"})
    require(document, pointer, key, !entry.contains(key), "either values or a range");
}

/// The names of the values that the axis gives.
void take_names(const Document& document, const std::string& pointer, AxisValues& axis) {
  const json& entry = document.content.at(json::json_pointer(pointer));
  if (!entry.contains("names")) return;
  axis.names = entry.at("names").get<std::vector<std::string>>();
  require(document, pointer, "names", axis.names.size() == axis.values.size(),
          fmt::format("{} names, one for each value", axis.values.size()));
  require(document, pointer, "names",
          std::set<std::string>(axis.names.begin(), axis.names.end()).size() == axis.names.size(), "different names");
}

}  // namespace

AxisValues axis_values(const Document& document, const std::string& pointer) {
  const json& entry = document.content.at(json::json_pointer(pointer));
  AxisValues axis;
  axis.key = entry.at("key").get<std::string>();
  require(document, pointer, "key", axis.key != "method", "a key that is not the method, which methods say");
  require(document, pointer, "key", is_key_of_run(axis.key), "a key of a run, as t3vp keys prints them");
  if (!entry.contains("values")) {
    axis.numbers = steps_of(document, pointer, is_whole_number(axis.key));
    for (const double number : axis.numbers) axis.values.push_back(text_of(number));
    axis.names = axis.values;
    take_names(document, pointer, axis);
    return axis;
  }
  require_no_range(document, pointer);
  std::set<std::string> values;
  for (const json& value : entry.at("values")) {
    axis.values.push_back(name_of(value));
    axis.names = axis.values;
    if (!values.insert(axis.values.back()).second)
      document.reject(pointer + "/values", in_short(value) + " twice", "different values");
    if (value.is_number()) axis.numbers.push_back(value.get<double>());
  }
  if (axis.numbers.size() != axis.names.size()) axis.numbers.clear();
  take_names(document, pointer, axis);
  return axis;
}

}  // namespace t3vp
