#include "platform/experiment/traffic_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace t3vp {
namespace {

using nlohmann::json;

constexpr std::size_t most_intervals = 400;
const std::string prefix = "HBM: ";

struct Sample {
  double us, GBps;
};

std::map<std::string, std::vector<Sample>> samples_of(const json& events, double setup_us) {
  std::map<std::string, std::vector<Sample>> samples;
  for (const json& event : events) {
    if (event.at("ph") != "C" || event.at("pid") != 1) continue;
    const std::string name = event.at("name").get<std::string>();
    const double us = event.at("ts").get<double>() - setup_us;
    if (name.rfind(prefix, 0) == 0 && us >= 0)
      samples[name.substr(prefix.size())].push_back({us, event.at("args").at("value").get<double>()});
  }
  return samples;
}

/// Means of the samples that end in each interval.
std::vector<double> means(const std::vector<Sample>& samples, double interval_us, std::size_t intervals) {
  std::vector<double> sums(intervals), counts(intervals);
  for (const Sample& sample : samples) {
    const auto at = std::min(static_cast<std::size_t>(sample.us / interval_us), intervals - 1);
    sums[at] += sample.GBps;
    counts[at] += 1;
  }
  for (std::size_t i = 0; i < intervals; ++i) sums[i] /= std::max(counts[i], 1.0);
  return sums;
}

}  // namespace

TrafficTimeline read_traffic(const std::filesystem::path& trace, double setup_ns) {
  std::ifstream in(trace);
  const json content = json::parse(in, nullptr, false);
  if (!content.contains("traceEvents")) throw std::runtime_error(trace.string() + ": not a timeline");
  const auto samples = samples_of(content.at("traceEvents"), setup_ns / 1000);
  double end = 1;
  for (const auto& one : samples)
    for (const Sample& sample : one.second)
      if (sample.GBps > 0) end = std::max(end, sample.us);
  TrafficTimeline timeline;
  timeline.interval_us = std::max(1.0, std::ceil(end / most_intervals));
  const auto intervals = static_cast<std::size_t>(end / timeline.interval_us) + 1;
  for (const auto& [name, list] : samples)
    if (std::any_of(list.begin(), list.end(), [](const Sample& s) { return s.GBps > 0; }))
      timeline.GBps[name] = means(list, timeline.interval_us, intervals);
  return timeline;
}

double TrafficTimeline::end_us() const {
  return GBps.empty() ? 0 : interval_us * static_cast<double>(GBps.begin()->second.size());
}

std::string TrafficTimeline::panel(const std::string& name,
                                   const std::function<std::string(std::size_t)>& colour) const {
  std::string data = name + " << EOD\n", drawn;
  const std::size_t intervals = GBps.empty() ? 0 : GBps.begin()->second.size();
  for (std::size_t i = 0; i < intervals; ++i) {
    data += fmt::format("{:.6g}", (static_cast<double>(i) + 0.5) * interval_us);
    for (const auto& one : GBps) data += fmt::format(" {:.6g}", one.second[i]);
    data += "\n";
  }
  std::size_t column = 0;
  for (const auto& one : GBps) {
    drawn += fmt::format("{}{} using 1:{} with lines title \"{}\" linecolor rgb \"{}\"", column == 0 ? "plot " : ", ",
                         name, column + 2, one.first, colour(column));
    ++column;
  }
  return data + "EOD\n" + drawn + "\n";
}

}  // namespace t3vp
