#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <vector>

#include "command_line/program.h"
#include "command_line/refusals.h"
#include "report/perfetto_trace.h"

namespace t3vp::test::perfetto_trace_test {

using nlohmann::json;

namespace {

std::vector<json> events(const json& trace, const std::string& kind) {
  std::vector<json> found;
  for (const json& event : trace.at("traceEvents"))
    if (event.at("ph") == kind) found.push_back(event);
  return found;
}

/// A tile's way from its store on GPU 1 to the neighbour's memory, reported out of order; then another, shorter one.
void record_two_flows(Trace& trace) {
  const auto cu = trace.track("GPU 1", "CU 0-9");
  const auto dma = trace.track("GPU 1", "DMA");
  const auto hbm = trace.track("GPU 0", "HBM \"a\"");
  trace.span(hbm, "update", 9'000'123, 9'500'000, flow_of(1, 7, 3));
  trace.span(cu, "store", 1'000'001, 2'000'000, flow_of(1, 7, 3));
  trace.span(dma, "block", 5'000'000, 6'000'000, flow_of(1, 7, 3));
  trace.span(cu, "store", 2'000'000, 3'000'000, flow_of(1, 8, 0));
  trace.span(dma, "block", 6'000'000, 6'500'000, flow_of(1, 8, 0));
  trace.span(cu, "store", 3'000'000, 4'000'000, flow_of(1, 9, 0));  // never answered
  trace.counter(hbm, "occupancy", 1'500'000, 12.5);
}

json recorded(const Folder& folder) {
  PerfettoTrace trace(folder / "trace.json");
  record_two_flows(trace);
  trace.close();
  return json_of(folder / "trace.json");
}

}  // namespace

TEST_CASE("spans keep their times to the picosecond, in microseconds") {
  const Folder folder;
  recorded(folder);
  const std::string text = text_of(folder / "trace.json");
  CHECK(text.find(R"("ts":9.000123,"dur":0.499877,"name":"update")") != std::string::npos);
}

TEST_CASE("groups are processes and tracks threads, by name") {
  const Folder folder;
  std::map<std::string, std::set<int>> names;
  for (const json& event : events(recorded(folder), "M"))
    if (event.at("name") != "thread_sort_index") names[event.at("args").at("name")].insert(event.at("pid").get<int>());
  CHECK(names.size() == 5);
  CHECK(names.at("GPU 1") == names.at("DMA"));
  CHECK(names.at("GPU 0") == names.at("HBM \"a\""));
  CHECK(names.at("GPU 0") != names.at("GPU 1"));
}

TEST_CASE("flows begin once, end once, go forward in time and touch a span at every point") {
  const Folder folder;
  const json trace = recorded(folder);
  std::map<std::uint64_t, std::vector<json>> flows;
  for (const json& event : trace.at("traceEvents"))
    if (event.contains("id")) flows[event.at("id").get<std::uint64_t>()].push_back(event);
  CHECK(flows.size() == 2);
  for (const auto& flow : flows) {
    const auto& points = flow.second;
    CHECK(points.front().at("ph") == "s");
    CHECK(points.back().at("ph") == "f");
    CHECK(points.back().at("bp") == "e");
    for (std::size_t i = 1; i < points.size(); ++i) {
      CHECK(points[i - 1].at("ts") <= points[i].at("ts"));
      if (i + 1 < points.size()) CHECK(points[i].at("ph") == "t");
    }
    for (const json& point : points) {
      int touched = 0;
      for (const json& span : events(trace, "X"))
        touched +=
            span.at("pid") == point.at("pid") && span.at("tid") == point.at("tid") && span.at("ts") == point.at("ts");
      CHECK(touched == 1);
    }
  }
  CHECK(flows.at(flow_of(1, 7, 3)).size() == 3);
}

TEST_CASE("overlapping spans of a track never share a thread") {
  const Folder folder;
  {
    PerfettoTrace trace(folder / "trace.json");
    const auto track = trace.track("GPU 0", "CU 0-9");
    for (std::uint64_t i = 0; i < 50; ++i) trace.span(track, "gemm", i * 10, i * 10 + 35);
    trace.close();
  }
  const json trace = json_of(folder / "trace.json");
  std::map<int, double> end;
  for (const json& span : events(trace, "X")) {
    double& last = end[span.at("tid").get<int>()];
    CHECK(span.at("ts").get<double>() >= last - 1e-12);
    last = span.at("ts").get<double>() + span.at("dur").get<double>();
  }
  CHECK(end.size() == 4);
}

TEST_CASE("an arrow begins where a message was noted and goes on where it is sent") {
  const Folder folder;
  {
    PerfettoTrace trace(folder / "trace.json");
    const auto workgroup = trace.track("GPU 0", "workgroup 0"), nic = trace.track("GPU 0", "NIC sends");
    trace.instant(workgroup, "put", 3'000'000, flow_to(0x1000));
    trace.instant(workgroup, "complete", 3'500'000, 0);
    trace.span(nic, "write", 4'000'000, 5'000'000, flow_to(0x1000));
    trace.span(nic, "write", 5'000'000, 6'000'000, 0x1000);  // a tile's, of the same number
    trace.span(workgroup, "computes", 1'000'000, 6'000'000);
    trace.close();
  }
  const json trace = json_of(folder / "trace.json");
  const auto instants = events(trace, "i"), begins = events(trace, "s"), ends = events(trace, "f");
  REQUIRE(instants.size() == 2);
  CHECK(instants[0].at("args").at("to") == "0x1000");
  CHECK_FALSE(instants[1].contains("args"));
  REQUIRE(begins.size() == 1);
  REQUIRE(ends.size() == 1);
  CHECK(begins[0].at("ts") == 3);
  CHECK(begins[0].at("tid") == instants[0].at("tid"));
  CHECK(ends[0].at("ts") == 4);
  CHECK(begins[0].at("cat") == "message");
}

TEST_CASE("lanes of a row are placed together in the order of the rows") {
  const Folder folder;
  {
    PerfettoTrace trace(folder / "trace.json");
    const auto first = trace.track("GPU 0", "first");
    trace.track("GPU 0", "second");
    for (std::uint64_t begin = 0; begin < 3; ++begin) trace.span(first, "overlaps", begin, begin + 10);
    trace.close();
  }
  std::map<int, int> places;
  for (const json& event : events(json_of(folder / "trace.json"), "M"))
    if (event.at("name") == "thread_sort_index")
      places[event.at("tid").get<int>()] = event.at("args").at("sort_index").get<int>();
  REQUIRE(places.size() == 4);
  CHECK(places.at(1) == places.at(3));
  CHECK(places.at(1) == places.at(4));
  CHECK(places.at(1) < places.at(2));
}

TEST_CASE("counters carry their value") {
  const Folder folder;
  const auto counters = events(recorded(folder), "C");
  REQUIRE(counters.size() == 1);
  CHECK(counters[0].at("args").at("value") == 12.5);
}

TEST_CASE("a timeline that breaks off leaves no file and an empty one is valid JSON") {
  const Folder folder;
  try {
    PerfettoTrace trace(folder / "trace.json");
    record_two_flows(trace);
    throw std::runtime_error("broken off");
  } catch (const std::runtime_error&) {
  }
  CHECK(std::filesystem::is_empty(folder / "."));
  PerfettoTrace(folder / "empty.json").close();
  CHECK(json_of(folder / "empty.json").at("traceEvents").empty());
}

TEST_CASE("a trace that cannot be created says so") {
  const Folder folder;
  CHECK_THROWS_WITH(PerfettoTrace(folder / "no/such/trace.json"), Catch::Contains("trace.json: No such file"));
}

TEST_CASE("a window has the spans that reach into it and the counters' values where it begins") {
  const Folder folder;
  {
    PerfettoTrace trace(folder / "trace.json", {2'000'000, 5'000'000});
    const auto track = trace.track("GPU 0", "CU 0-9");
    const std::pair<Picoseconds, Picoseconds> spans[] = {
        {0, 1'999'999}, {1'000'000, 2'000'000}, {3'000'000, 4'000'000}, {5'000'000, 9'000'000}, {5'000'001, 6'000'000}};
    for (const auto& [begin, end] : spans) {
      trace.span(track, "plain", begin, end);
      trace.span(track, "tile", begin, end, flow_of(1, 7, 3));
    }
    const Picoseconds instants[] = {1'999'999, 2'000'000, 5'000'000, 5'000'001};
    for (const Picoseconds at : instants) trace.instant(track, "mark", at, 0);
    trace.counter(track, "changes", 500'000, 1);
    trace.counter(track, "changes", 1'500'000, 2);
    trace.counter(track, "changes", 4'000'000, 3);
    trace.counter(track, "changes", 6'000'000, 4);
    trace.counter(track, "stays", 1'000'000, 5);
    trace.counter(track, "begins", 2'000'000, 6);
    trace.close();
  }
  const json trace = json_of(folder / "trace.json");
  std::map<std::string, std::vector<double>> times;
  for (const char* kind : {"X", "i", "s", "t", "f"})
    for (const json& event : events(trace, kind))
      times[kind + event.at("name").get<std::string>()].push_back(event.at("ts").get<double>());
  CHECK(times.at("Xplain") == std::vector<double>{1, 3, 5});
  CHECK(times.at("Xtile") == std::vector<double>{1, 3, 5});
  CHECK(times.at("imark") == std::vector<double>{2, 5});
  CHECK(times.at("stile") == std::vector<double>{1});
  CHECK(times.at("ttile") == std::vector<double>{3});
  CHECK(times.at("ftile") == std::vector<double>{5});
  std::map<std::string, std::vector<std::pair<double, double>>> values;
  for (const json& event : events(trace, "C"))
    values[event.at("name")].emplace_back(event.at("ts").get<double>(), event.at("args").at("value").get<double>());
  using Values = std::vector<std::pair<double, double>>;
  CHECK(values.at("CU 0-9: changes") == Values{{2, 2}, {4, 3}});
  CHECK(values.at("CU 0-9: stays") == Values{{2, 5}});
  CHECK(values.at("CU 0-9: begins") == Values{{2, 6}});
}

TEST_CASE("a run's timeline is limited to a window of simulated time") {
  const ValidFiles files;
  const auto trace_of = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"run", files.run(), "--out", files / "out", "--trace"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = run_program(arguments);
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    return json_of(files / "out/trace.json");
  };
  const json whole = trace_of({});
  std::multiset<std::string> expected;
  double last = 0;
  for (const json& span : events(whole, "X")) last = std::max(last, span.at("ts").get<double>());
  const double from = last / 4, to = last / 2;
  const auto key_of = [](const json& span) {
    return span.at("name").get<std::string>() + " " + span.at("ts").dump() + " " + span.at("dur").dump();
  };
  for (const json& span : events(whole, "X")) {
    const double begin = span.at("ts").get<double>(), end = begin + span.at("dur").get<double>();
    if (end >= from && begin <= to) expected.insert(key_of(span));
  }
  std::multiset<std::string> found;
  for (const json& span :
       events(trace_of({"--trace-from", std::to_string(from), "--trace-to", std::to_string(to)}), "X"))
    found.insert(key_of(span));
  CHECK(found == expected);
  CHECK(expected.size() < events(whole, "X").size());
  CHECK_FALSE(expected.empty());
}

TEST_CASE("a window that is none, or of no timeline, is refused") {
  const ValidFiles files;
  using Options = std::vector<std::string>;
  for (const Options& options : {Options{"--trace", "--trace-from", "5", "--trace-to", "5"},
                                 {"--trace", "--trace-from", "5", "--trace-to", "2"},
                                 {"--trace", "--trace-to", "0"}}) {
    require_refusal(run_file(files.run(), options), "--trace-to");
  }
  require_refusal(run_file(files.run(), {"--trace-from", "1"}), "--trace-from");
  require_refusal(run_file(files.run(), {"--trace-to", "1"}), "--trace-to");
  for (const char* value : {"-1", "nan", "inf", "1us", "", "1e13"})
    for (const char* option : {"--trace-from", "--trace-to"})
      require_refusal(run_file(files.run(), {"--trace", option, value}), std::string("t3vp: ") + option);
  CHECK_FALSE(std::filesystem::exists(files / "results"));
}

}  // namespace t3vp::test::perfetto_trace_test
