#include "report/replicates.h"

#include <algorithm>
#include <string>

namespace t3vp {
namespace {

using nlohmann::json;
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

/// What many GPUs make large, and what is not of one run.
constexpr const char* const left_out[] = {"host", "links", "operations", "replicates", "statistics", "warnings"};

}  // namespace

ordered_json times_of_replicates(const std::vector<ordered_json>& reports) {
  ordered_json times = ordered_json::object();
  for (const auto& time : reports.front().at("time_ns").items())
    if (const std::vector<double> values = values_of(reports, time.key()); !values.empty())
      times[time.key()] = spread_of(values);
  return times;
}

void keep_replicates(json& report, unsigned count) {
  if (!report.contains("replicates") || report["replicates"].at("count") <= count) return;
  if (count <= 1) {
    report.erase("replicates");
    return;
  }
  report["replicates"]["count"] = count;
  for (json& time : report["replicates"]["time_ns"]) {
    auto values = time.at("values").get<std::vector<double>>();
    values.resize(count);
    time = json(spread_of(values));
  }
}

json report_of_replicate(const json& report, std::size_t replicate) {
  json result = json::object();
  for (const auto& member : report.items())
    if (std::find(std::begin(left_out), std::end(left_out), member.key()) == std::end(left_out))
      result[member.key()] = member.value();
  for (const auto& time : report.at("replicates").at("time_ns").items())
    result["time_ns"][time.key()] = time.value().at("values").at(replicate);
  return result;
}

}  // namespace t3vp
