#include "experiment/workgroup_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "experiment/gnuplot.h"

namespace t3vp {
namespace {

using nlohmann::json;

constexpr int first_gpu = 1;
constexpr const char* workgroup_prefix = "workgroup ";

/// Threads of the first GPU that are rows of workgroups, or further lanes of such a row.
std::map<int, std::size_t> rows_of(const json& events) {
  std::map<int, std::size_t> rows;
  for (const json& event : events) {
    if (event.at("ph") != "M" || event.at("name") != "thread_name" || event.at("pid") != first_gpu) continue;
    const auto name = event.at("args").at("name").get<std::string>();
    if (name.rfind(workgroup_prefix, 0) == 0)
      rows[event.at("tid").get<int>()] = std::stoul(name.substr(std::string(workgroup_prefix).size()));
  }
  return rows;
}

/// The workgroup whose row an event is on.
std::optional<std::size_t> workgroup_of(const json& event, const char* kind, const std::map<int, std::size_t>& rows) {
  if (event.at("ph") != kind || event.at("pid") != first_gpu) return std::nullopt;
  const auto row = rows.find(event.at("tid").get<int>());
  return row == rows.end() ? std::nullopt : std::optional(row->second);
}

void join_equal_parts(std::vector<WorkgroupTimeline::Part>& parts) {
  std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) {
    return a.workgroup != b.workgroup ? a.workgroup < b.workgroup : a.begin_us < b.begin_us;
  });
  std::vector<WorkgroupTimeline::Part> joined;
  for (const WorkgroupTimeline::Part& part : parts) {
    constexpr double rounding_us = 1e-5;
    if (!joined.empty() && joined.back().workgroup == part.workgroup && joined.back().name == part.name &&
        part.begin_us <= joined.back().end_us + rounding_us)
      joined.back().end_us = part.end_us;
    else
      joined.push_back(part);
  }
  parts = std::move(joined);
}

/// In the order in which they first begin.
std::vector<std::string> names_in(std::vector<WorkgroupTimeline::Part> parts) {
  std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.begin_us < b.begin_us; });
  std::vector<std::string> names;
  for (const WorkgroupTimeline::Part& part : parts)
    if (std::find(names.begin(), names.end(), part.name) == names.end()) names.push_back(part.name);
  return names;
}

}  // namespace

WorkgroupTimeline read_workgroups(const std::filesystem::path& trace, double setup_ns) {
  std::ifstream in(trace);
  const json content = json::parse(in, nullptr, false);
  if (!content.contains("traceEvents")) throw std::runtime_error(trace.string() + ": not a timeline");
  const json& events = content.at("traceEvents");
  const std::map<int, std::size_t> rows = rows_of(events);
  const double setup_us = setup_ns / 1000;
  WorkgroupTimeline timeline;
  for (const auto& row : rows) timeline.workgroups = std::max(timeline.workgroups, row.second + 1);
  for (const json& event : events) {
    if (const auto workgroup = workgroup_of(event, "X", rows)) {
      const double begin = event.at("ts").get<double>() - setup_us;
      timeline.parts.push_back(
          {*workgroup, event.at("name").get<std::string>(), begin, begin + event.at("dur").get<double>()});
    }
    if (const auto workgroup = workgroup_of(event, "i", rows))
      timeline.marks.push_back(
          {*workgroup, event.at("name").get<std::string>(), event.at("ts").get<double>() - setup_us});
  }
  join_equal_parts(timeline.parts);
  return timeline;
}

double WorkgroupTimeline::end_us() const {
  double end = 0;
  for (const Part& part : parts) end = std::max(end, part.end_us);
  return end;
}

std::vector<std::size_t> WorkgroupTimeline::rows(std::size_t size) const {
  std::vector<double> last(workgroups);
  for (const Part& part : parts) last[part.workgroup] = std::max(last[part.workgroup], part.begin_us);
  std::vector<std::size_t> order(workgroups), rows(workgroups);
  for (std::size_t i = 0; i < workgroups; ++i) order[i] = i;
  for (std::size_t i = 0; i < workgroups; i += size)
    std::stable_sort(order.begin() + static_cast<std::ptrdiff_t>(i),
                     order.begin() + static_cast<std::ptrdiff_t>(std::min(i + size, workgroups)),
                     [&](std::size_t a, std::size_t b) { return last[a] < last[b]; });
  for (std::size_t i = 0; i < workgroups; ++i) rows[order[i]] = i;
  return rows;
}

std::string WorkgroupTimeline::panel(const std::string& name, const std::vector<std::string>& shown,
                                     std::size_t cluster) const {
  const std::vector<std::size_t> row = rows(cluster);
  std::string data, drawn;
  std::size_t blocks = 0;
  const auto draw = [&](const std::string& lines, const std::string& as) {
    const std::string block = fmt::format("{}_{}", name, blocks++);
    data += block + " << EOD\n" + lines + "EOD\n";
    drawn += fmt::format("{}{} {}", drawn.empty() ? "plot " : ", ", block, as);
  };
  const std::vector<std::string> names = names_in(parts);
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::string lines;
    for (const Part& part : parts)
      if (part.name == names[i])
        lines += fmt::format("{:.6g} {:.6g} {}\n", part.begin_us, part.end_us, row[part.workgroup]);
    draw(lines, fmt::format("using (($1+$2)/2):3:1:2:($3-0.4):($3+0.4) with boxxyerror title {} linecolor rgb {}",
                            gnuplot::text_constant(names[i]), gnuplot::colour(i)));
  }
  constexpr int signs[] = {9, 6, 5, 7};  // triangle, circle, square, disc
  for (std::size_t i = 0; i < shown.size(); ++i) {
    std::string lines;
    for (const Mark& mark : marks)
      if (mark.name == shown[i]) lines += fmt::format("{:.6g} {}\n", mark.us, row[mark.workgroup]);
    if (lines.empty()) lines = "? ?\n";
    draw(lines, fmt::format("with points pointtype {} pointsize 0.7 linecolor rgb '#000000' title {}", signs[i % 4],
                            gnuplot::text_constant(shown[i])));
  }
  return data + drawn + "\n";
}

}  // namespace t3vp
