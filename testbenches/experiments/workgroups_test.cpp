// What a picture of persistent workgroups makes of the rows in a trace.
#include <catch2/catch.hpp>

#include "command_line/program.h"
#include "experiment/workgroup_timeline.h"

namespace t3vp::test::workgroups_test {

using nlohmann::json;

namespace {

json row(int thread, const std::string& name, int gpu = 1) {
  return {{"ph", "M"}, {"pid", gpu}, {"tid", thread}, {"name", "thread_name"}, {"args", {{"name", name}}}};
}

json part(int thread, const char* name, double begin, double end, int gpu = 1) {
  return {{"ph", "X"}, {"pid", gpu}, {"tid", thread}, {"ts", begin}, {"dur", end - begin}, {"name", name}};
}

json mark(int thread, const char* name, double us) {
  return {{"ph", "i"}, {"s", "t"}, {"pid", 1}, {"tid", thread}, {"ts", us}, {"name", name}};
}

WorkgroupTimeline timeline_of(const json& events, double setup_us = 0) {
  const Folder folder;
  return read_workgroups(folder.write("trace.json", json{{"traceEvents", events}}), setup_us * 1000);
}

}  // namespace

TEST_CASE("parts of one name that follow each other are one and time begins after the setup") {
  const WorkgroupTimeline timeline =
      timeline_of({row(7, "workgroup 0"), row(8, "workgroup 1"), row(9, "NIC sends"), row(10, "workgroup 0", 2),
                   part(7, "computes", 100, 110), part(7, "computes", 110, 125), part(7, "sends", 125, 130),
                   part(7, "computes", 130, 140), part(8, "computes", 140, 150), part(9, "write", 120, 121),
                   part(10, "computes", 100, 900, 2), mark(7, "put", 126)},
                  100);
  CHECK(timeline.workgroups == 2);
  REQUIRE(timeline.parts.size() == 4);
  CHECK((timeline.parts[0].begin_us == 0 && timeline.parts[0].end_us == 25));
  CHECK((timeline.parts[1].name == "sends" && timeline.parts[1].begin_us == 25));
  CHECK((timeline.parts[2].name == "computes" && timeline.parts[2].begin_us == 30));
  CHECK(timeline.parts[3].workgroup == 1);
  CHECK(timeline.end_us() == 50);
  REQUIRE(timeline.marks.size() == 1);
  CHECK(timeline.marks[0].us == 26);
}

TEST_CASE("workgroups of a cluster are sorted by when their last part begins") {
  json events;
  const double done[] = {5, 3, 4, 9, 8, 1};
  for (int i = 0; i < 6; ++i) {
    events.push_back(row(i, "workgroup " + std::to_string(i)));
    events.push_back(part(i, "computes", 0, done[i]));
    events.push_back(part(i, "waits", done[i], 10));
  }
  const WorkgroupTimeline timeline = timeline_of(events);
  CHECK(timeline.rows(3) == std::vector<std::size_t>{2, 0, 1, 5, 4, 3});
  CHECK(timeline.rows(4) == std::vector<std::size_t>{2, 0, 1, 3, 5, 4});
  CHECK(timeline.rows(1) == std::vector<std::size_t>{0, 1, 2, 3, 4, 5});
}

TEST_CASE("only named marks are drawn, each where its workgroup is") {
  const WorkgroupTimeline timeline =
      timeline_of({row(1, "workgroup 0"), row(2, "workgroup 1"), part(1, "computes", 0, 9), part(2, "computes", 0, 4),
                   mark(1, "put", 8.25), mark(1, "fence", 8.5)});
  const std::string script = timeline.panel("$p", {"put", "never"}, 2);
  CHECK_THAT(script, Catch::Contains("8.25 0\n") && !Catch::Contains("8.5 "));
  CHECK_THAT(script, Catch::Contains("title \"never\""));
  CHECK_THAT(script, Catch::Contains("0 9 0\n0 4 1\n"));
}

TEST_CASE("a picture of workgroups needs the trace of a kernel with rows of its own") {
  CHECK(timeline_of(json::array({row(1, "CU 0 of 0 to 9"), part(1, "gemm", 0, 1)})).parts.empty());
  const Folder folder;
  CHECK_THROWS_WITH(read_workgroups(folder / "none.json", 0), Catch::Contains("none.json: not a timeline"));
}

}  // namespace t3vp::test::workgroups_test
