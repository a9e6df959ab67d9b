// tools/draw_timeline: a trace as an SVG.
#include <algorithm>
#include <catch2/catch.hpp>
#include <regex>

#include "command_line/program.h"

namespace t3vp::test::draw_timeline_test {

using nlohmann::json;

namespace {

json event(int gpu, int tid, const std::string& name, double begin, double us) {
  return {{"ph", "X"}, {"pid", gpu + 1}, {"tid", tid}, {"ts", begin}, {"dur", us}, {"name", name}};
}

json name_of(const char* what, int gpu, int tid, const std::string& name) {
  return {{"ph", "M"}, {"pid", gpu + 1}, {"tid", tid}, {"name", what}, {"args", {{"name", name}}}};
}

/// A trace of these events on a track for each tid, "track TID".
json trace_of(const std::vector<json>& events, int gpus, int tracks) {
  json list = json::array();
  for (int gpu = 0; gpu < gpus; ++gpu) {
    list.push_back(name_of("process_name", gpu, 0, "GPU " + std::to_string(gpu)));
    for (int tid = 1; tid <= tracks; ++tid)
      list.push_back(name_of("thread_name", gpu, tid, "track " + std::to_string(tid)));
  }
  for (const json& one : events) list.push_back(one);
  return {{"traceEvents", list}};
}

struct Drawn {
  int exit_code = 0;
  std::string svg, err;
};

Drawn draw(const json& trace, const std::string& options = "") {
  const Folder folder;
  folder.write("trace.json", trace);
  const std::string command = "python3 " T3VP_SOURCE_DIR "/tools/draw_timeline " + (folder / "trace.json").string() +
                              " " + (folder / "picture.svg").string() + " " + options + " 2> " +
                              (folder / "err").string();
  Drawn drawn;
  drawn.exit_code = std::system(command.c_str()) >> 8;
  if (drawn.exit_code == 0) drawn.svg = text_of(folder / "picture.svg");
  drawn.err = text_of(folder / "err");
  return drawn;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace

TEST_CASE("a timeline's picture has a group for each GPU, a row for each track and an axis in us") {
  const Drawn drawn =
      draw(trace_of({event(0, 1, "gemm", 0, 60), event(0, 2, "store", 20, 40), event(1, 1, "gemm", 5, 60)}, 2, 2));
  REQUIRE(drawn.exit_code == 0);
  for (const char* text : {">GPU 0<", ">GPU 1<", ">track 1<", ">track 2<", ">gemm<", ">store<", ">time (us)<", ">60<"})
    CHECK_THAT(drawn.svg, Catch::Contains(text));
  CHECK_THAT(drawn.svg, Catch::Contains("gemm: 5.00 to 65.00 us"));
  CHECK(count(drawn.svg, ">track 2<") == 1);  // GPU 1 has nothing there
  const std::regex size("font-size=\"([0-9]+)\"");
  for (auto it = std::sregex_iterator(drawn.svg.begin(), drawn.svg.end(), size); it != std::sregex_iterator(); ++it)
    CHECK(std::stoi((*it)[1]) >= 11);
}

TEST_CASE("lanes of a track are rows of one name, and many short events are few boxes") {
  json trace = trace_of({event(0, 1, "total", 0, 100), event(0, 2, "gemm", 10, 50)}, 1, 1);
  trace["traceEvents"].push_back(name_of("thread_name", 0, 2, "track 1 (2)"));
  trace["traceEvents"].push_back(name_of("thread_name", 0, 3, "link"));
  for (int i = 0; i < 1000; ++i) trace["traceEvents"].push_back(event(0, 3, "store", 10 + 0.04 * i, 0.04));
  const Drawn drawn = draw(trace);
  REQUIRE(drawn.exit_code == 0);
  CHECK(count(drawn.svg, ">track 1<") == 1);
  CHECK_THAT(drawn.svg, !Catch::Contains("track 1 (2)"));
  CHECK(count(drawn.svg, "store: ") == 1);
}

TEST_CASE("a timeline's picture has at most 30 tracks") {
  std::vector<json> events;
  for (int gpu = 0; gpu < 4; ++gpu)
    for (int tid = 1; tid <= 12; ++tid) events.push_back(event(gpu, tid, "work", tid, 50));
  const Drawn drawn = draw(trace_of(events, 4, 12));
  CHECK(count(drawn.svg, ">track ") == 24);
  CHECK_THAT(drawn.svg, Catch::Contains(">GPU 1<") && !Catch::Contains(">GPU 2<"));
  CHECK_THAT(draw(trace_of(events, 4, 12), "--gpus 2,3").svg,
             Catch::Contains(">GPU 3<") && !Catch::Contains(">GPU 0<"));
  std::vector<json> many;
  for (int tid = 1; tid <= 50; ++tid) many.push_back(event(0, tid, "work", 0, 50));
  CHECK(count(draw(trace_of(many, 1, 50)).svg, ">track ") == 30);
}

TEST_CASE("a part of a timeline is drawn from its begin to its end") {
  const json trace = trace_of({event(0, 1, "early", 0, 10), event(0, 1, "late", 50, 100)}, 1, 1);
  const Drawn drawn = draw(trace, "--from 40 --to 90");
  CHECK_THAT(drawn.svg, Catch::Contains(">late<") && Catch::Contains(">60<") && !Catch::Contains("early"));
  const Drawn nothing = draw(trace, "--from 200");
  CHECK(nothing.exit_code == 1);
  CHECK(count(nothing.err, "\n") == 1);
  CHECK_THAT(nothing.err, Catch::Contains("--from"));
}

TEST_CASE("names are text in a timeline's picture, and what is no trace is one line") {
  const Drawn drawn = draw(trace_of({event(0, 1, "<b>&\"'", 0, 10)}, 1, 1), "--title '<i>&'");
  CHECK_THAT(drawn.svg, Catch::Contains(">&lt;b&gt;&amp;\"'<") && Catch::Contains(">&lt;i&gt;&amp;<"));
  for (const json& wrong :
       {json::object(), json::array({1}), json{{"traceEvents", {{{"ph", "X"}}}}}, trace_of({}, 1, 1)}) {
    const Drawn failed = draw(wrong);
    CHECK(failed.exit_code == 1);
    CHECK(count(failed.err, "\n") == 1);
  }
  CHECK_THAT(draw(trace_of({event(0, 1, "work", 0, 10)}, 1, 1), "--gpus 7").err,
             Catch::Contains("no GPU 7, but GPU 0"));
}

}  // namespace t3vp::test::draw_timeline_test
