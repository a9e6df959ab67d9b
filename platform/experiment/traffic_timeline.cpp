#include "experiment/traffic_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "experiment/gnuplot.h"
#include "report/metric_names.h"

namespace t3vp {
namespace {

using nlohmann::json;

constexpr std::size_t most_intervals = 400;
const std::string memory_prefix = "HBM: ";

struct Sample {
  double us, GBps;
};

std::map<std::string, std::vector<Sample>> samples_of(const json& events, double setup_us) {
  std::map<std::string, std::vector<Sample>> samples;
  for (const json& event : events) {
    if (event.at("ph") != "C" || event.at("pid") != 1) continue;
    const std::string name = event.at("name").get<std::string>();
    const double us = std::max(0.0, event.at("ts").get<double>() - setup_us);
    if (name.rfind(memory_prefix, 0) == 0)
      samples[name.substr(memory_prefix.size())].push_back({us, event.at("args").at("value").get<double>()});
  }
  return samples;
}

/// Mean rates of the intervals; a sample holds until the next one.
std::vector<double> means(const std::vector<Sample>& samples, double interval_us, std::size_t intervals) {
  std::vector<double> sums(intervals);
  for (std::size_t s = 0; s + 1 < samples.size(); ++s) {
    const double end = samples[s + 1].us;
    for (double from = samples[s].us; from < end;) {
      const auto at = std::min(static_cast<std::size_t>(from / interval_us), intervals - 1);
      const double to = at + 1 == intervals ? end : std::min(end, static_cast<double>(at + 1) * interval_us);
      sums[at] += samples[s].GBps * (to - from) / interval_us;
      from = std::max(to, std::nextafter(from, end));
    }
  }
  return sums;
}

}  // namespace

TrafficTimeline read_traffic(const std::filesystem::path& trace, double setup_ns) {
  std::ifstream in(trace);
  const json content = json::parse(in, nullptr, false);
  if (!content.contains("traceEvents")) throw std::runtime_error(trace.string() + ": not a timeline");
  const auto samples = samples_of(content.at("traceEvents"), setup_ns / 1000);
  double end = 1;
  for (const auto& one : samples) end = std::max(end, one.second.back().us);
  TrafficTimeline timeline;
  timeline.interval_us = std::max(1.0, std::ceil(end / most_intervals));
  const auto intervals = static_cast<std::size_t>(end / timeline.interval_us) + 1;
  for (const auto& [name, list] : samples)
    if (list.back().us > 0) timeline.GBps[name] = means(list, timeline.interval_us, intervals);
  return timeline;
}

double TrafficTimeline::end_us() const {
  return GBps.empty() ? 0 : interval_us * static_cast<double>(GBps.begin()->second.size());
}

std::string TrafficTimeline::panel(const std::string& name, const std::set<std::string>& classes) const {
  std::string data = name + " << EOD\n", drawn;
  const std::size_t intervals = GBps.empty() ? 0 : GBps.begin()->second.size();
  for (std::size_t i = 0; i < intervals; ++i) {
    data += fmt::format("{:.6g}", (static_cast<double>(i) + 0.5) * interval_us);
    for (const auto& one : GBps) data += fmt::format(" {:.6g}", one.second[i]);
    data += "\n";
  }
  std::size_t index = 0;
  for (const std::string& one : classes) {
    const auto found = GBps.find(one);
    drawn += drawn.empty() ? "plot " : ", ";
    drawn += found == GBps.end()
                 ? "keyentry with lines"
                 : fmt::format("{} using 1:{} with lines", name, std::distance(GBps.begin(), found) + 2);
    drawn += fmt::format(" title {} linecolor rgb {}", gnuplot::text_constant(name_of_metric("dram_bytes." + one)),
                         gnuplot::colour_of(one, index++));
  }
  return data + "EOD\n" + drawn + "\n";
}

void TrafficScale::include(const TrafficTimeline& timeline) {
  end_us = std::max(end_us, timeline.end_us());
  for (const auto& one : timeline.GBps) {
    classes.insert(one.first);
    GBps = std::max(GBps, *std::max_element(one.second.begin(), one.second.end()));
  }
}

}  // namespace t3vp
