#include "report/replicates.h"

#include <algorithm>
#include <string>

namespace t3vp {
namespace {

using nlohmann::ordered_json;

ordered_json spread_of(const std::vector<double>& values) {
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t middle = sorted.size() / 2;
  const double median = sorted.size() % 2 != 0 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  return {{"median", median},
          {"least", sorted.front()},
          {"most", sorted.back()},
          {"spread", median > 0 ? (sorted.back() - sorted.front()) / median : 0},
          {"values", values}};
}

/// Empty when a report has none.
std::vector<double> values_of(const std::vector<ordered_json>& reports, const std::string& time) {
  std::vector<double> values;
  for (const ordered_json& report : reports) {
    const ordered_json value = report.at("time_ns").value(time, ordered_json());
    if (!value.is_number()) return {};
    values.push_back(value.get<double>());
  }
  return values;
}

}  // namespace

ordered_json times_of_replicates(const std::vector<ordered_json>& reports) {
  ordered_json times = ordered_json::object();
  for (const auto& time : reports.front().at("time_ns").items())
    if (const std::vector<double> values = values_of(reports, time.key()); !values.empty())
      times[time.key()] = spread_of(values);
  return times;
}

}  // namespace t3vp
