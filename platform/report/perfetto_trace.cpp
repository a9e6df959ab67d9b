#include "report/perfetto_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace t3vp {
namespace {

constexpr std::size_t buffer_bytes = 1 << 20;

/// The format's microseconds, exact to the picosecond.
std::string microseconds(Picoseconds t) { return fmt::format("{}.{:06}", t / 1'000'000, t % 1'000'000); }

std::string json_string(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string text_of_flow(std::uint64_t flow) {
  if (flow < message_flow) return fmt::format(R"("tile":{})", flow);
  return fmt::format(R"("to":"{:#x}")", flow - message_flow);
}

}  // namespace

PerfettoTrace::PerfettoTrace(const std::filesystem::path& file, TraceWindow window) : file_(file), window_(window) {
  buffer_ = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
}

void PerfettoTrace::close() {
  for (const auto& counter : before_)
    write_value(counter.first.first, counter.first.second, window_.from, counter.second);
  write_flows();
  buffer_ += "\n]}\n";
  flush();
  file_.complete();
}

void PerfettoTrace::keep() {
  flush();
  file_.keep("\n]}\n");
}

Trace::Track PerfettoTrace::track(const std::string& group, const std::string& name) {
  rows_.push_back({rows_.size(), process_of(group), name, {}});
  add_lane(rows_.back());
  return static_cast<Track>(rows_.size() - 1);
}

void PerfettoTrace::span(Track track, const char* name, Picoseconds begin, Picoseconds end) {
  if (!window_.meets(begin, end)) return;
  Row& row = rows_.at(track);
  event(fmt::format(R"({{"ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"name":{}}})", row.process,
                    lane_for(row, begin, end), microseconds(begin), microseconds(end - begin), json_string(name)));
}

void PerfettoTrace::span(Track track, const char* name, Picoseconds begin, Picoseconds end, std::uint64_t flow) {
  if (!window_.meets(begin, end)) return;
  Row& row = rows_.at(track);
  const std::uint32_t thread = lane_for(row, begin, end);
  event(fmt::format(R"({{"ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"name":{},"args":{{{}}}}})", row.process, thread,
                    microseconds(begin), microseconds(end - begin), json_string(name), text_of_flow(flow)));
  flows_[flow].push_back({begin, row.process, thread});
}

/// An arrow begins at the span that is open then.
void PerfettoTrace::instant(Track track, const char* name, Picoseconds at, std::uint64_t flow) {
  if (!window_.meets(at, at)) return;
  const Row& row = rows_.at(track);
  const std::uint32_t thread = row.lanes.front().thread;
  event(fmt::format(R"({{"ph":"i","s":"t","pid":{},"tid":{},"ts":{},"name":{}{}}})", row.process, thread,
                    microseconds(at), json_string(name),
                    flow == 0 ? "" : fmt::format(R"(,"args":{{{}}})", text_of_flow(flow))));
  if (flow != 0) flows_[flow].push_back({at, row.process, thread});
}

void PerfettoTrace::counter(Track track, const char* name, Picoseconds at, double value) {
  if (!std::isfinite(value) || at > window_.to) return;  // JSON has no such number
  if (at < window_.from) {
    before_[{track, name}] = value;
    return;
  }
  if (const auto earlier = before_.find({track, name}); earlier != before_.end()) {
    if (at > window_.from) write_value(track, name, window_.from, earlier->second);
    before_.erase(earlier);
  }
  write_value(track, name, at, value);
}

void PerfettoTrace::write_value(Track track, const std::string& name, Picoseconds at, double value) {
  const Row& row = rows_.at(track);
  event(fmt::format(R"({{"ph":"C","pid":{},"ts":{},"name":{},"args":{{"value":{}}}}})", row.process, microseconds(at),
                    json_string(row.name + ": " + name), value));
}

std::uint32_t PerfettoTrace::process_of(const std::string& group) {
  const auto number = static_cast<std::uint32_t>(processes_.size() + 1);
  const auto [at, added] = processes_.emplace(group, number);
  if (added) name_event("process_name", number, 0, group);
  return at->second;
}

std::uint32_t PerfettoTrace::add_lane(Row& row) {
  row.lanes.push_back({++threads_, 0});
  const std::size_t count = row.lanes.size();
  name_event("thread_name", row.process, threads_, count == 1 ? row.name : fmt::format("{} ({})", row.name, count));
  place_event(row);
  return threads_;
}

/// Viewers order threads by it, so that the lanes of a row stay together.
void PerfettoTrace::place_event(const Row& row) {
  event(fmt::format(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_sort_index","args":{{"sort_index":{}}}}})",
                    row.process, threads_, row.number));
}

std::uint32_t PerfettoTrace::lane_for(Row& row, Picoseconds begin, Picoseconds end) {
  auto lane = std::find_if(row.lanes.begin(), row.lanes.end(), [&](const Lane& l) { return l.end <= begin; });
  if (lane == row.lanes.end()) {
    add_lane(row);
    lane = row.lanes.end() - 1;
  }
  lane->end = end;
  return lane->thread;
}

void PerfettoTrace::name_event(const char* kind, std::uint32_t process, std::uint32_t thread, const std::string& name) {
  event(fmt::format(R"({{"ph":"M","pid":{},"tid":{},"name":"{}","args":{{"name":{}}}}})", process, thread, kind,
                    json_string(name)));
}

void PerfettoTrace::write_flows() {
  std::vector<std::uint64_t> ids;
  for (const auto& flow : flows_)
    if (flow.second.size() > 1) ids.push_back(flow.first);
  std::sort(ids.begin(), ids.end());
  for (const std::uint64_t id : ids) {
    std::vector<FlowPoint>& points = flows_[id];
    std::stable_sort(points.begin(), points.end(),
                     [](const FlowPoint& a, const FlowPoint& b) { return a.time < b.time; });
    const char* const kind = id < message_flow ? "tile" : "message";
    for (std::size_t i = 0; i < points.size(); ++i) {
      const bool last = i + 1 == points.size();
      event(fmt::format(R"({{"ph":"{}","cat":"{}","name":"{}","id":{},"pid":{},"tid":{},"ts":{}{}}})",
                        i == 0 ? 's'
                        : last ? 'f'
                               : 't',
                        kind, kind, id & ~message_flow, points[i].process, points[i].thread,
                        microseconds(points[i].time), last ? R"(,"bp":"e")" : ""));
    }
  }
}

void PerfettoTrace::event(const std::string& text) {
  if (!first_) buffer_ += ',';
  first_ = false;
  buffer_ += '\n';
  buffer_ += text;
  if (buffer_.size() >= buffer_bytes || file_.is_kept()) flush();
}

void PerfettoTrace::flush() {
  file_.stream() << buffer_;
  buffer_.clear();
}

}  // namespace t3vp
