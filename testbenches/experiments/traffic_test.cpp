// What a timeline of traffic makes of the counters in a trace.
#include <catch2/catch.hpp>

#include "command_line/program.h"
#include "experiment/traffic_timeline.h"

namespace t3vp::test::traffic_test {

using nlohmann::json;

namespace {

json counter(double us, const char* name, double GBps, int gpu = 1) {
  return {{"ph", "C"}, {"pid", gpu}, {"ts", us}, {"name", name}, {"args", {{"value", GBps}}}};
}

TrafficTimeline timeline_of(const json& events, double setup_us = 0) {
  const Folder folder;
  return read_traffic(folder.write("trace.json", json{{"traceEvents", events}}), setup_us * 1000);
}

double moved(const TrafficTimeline& timeline, const char* name) {
  double sum = 0;
  for (const double GBps : timeline.GBps.at(name)) sum += GBps * timeline.interval_us;
  return sum;
}

}  // namespace

TEST_CASE("an interval has the mean of the rates in it, weighed by their times") {
  const auto timeline = timeline_of({counter(0, "HBM: gemm_read", 8), counter(0.25, "HBM: gemm_read", 4),
                                     counter(2.5, "HBM: gemm_read", 16), counter(3, "HBM: gemm_read", 0)});
  REQUIRE(timeline.interval_us == 1);
  const std::vector<double>& GBps = timeline.GBps.at("gemm_read");
  REQUIRE(GBps.size() >= 3);
  CHECK(GBps[0] == Approx(0.25 * 8 + 0.75 * 4));
  CHECK(GBps[1] == Approx(4));
  CHECK(GBps[2] == Approx(0.5 * 4 + 0.5 * 16));
}

TEST_CASE("no byte of a long trace is lost or moved to another class") {
  json events;
  double reads = 0, updates = 0, us = 0;
  for (int i = 0; i < 5000; ++i) {
    const double length = 0.1 + 0.37 * (i % 7), read = i % 5, update = i % 3;
    events.push_back(counter(us, "HBM: rs_read", read));
    events.push_back(counter(us, "HBM: rs_write", update));
    events.push_back(counter(us, "HBM: rs_read", 1000, 2));  // another GPU's
    events.push_back(counter(us, "queue", 1000));            // another counter
    reads += read * length, updates += update * length;
    us += length;
  }
  events.push_back(counter(us, "HBM: rs_read", 0));
  events.push_back(counter(us, "HBM: rs_write", 0));
  const auto timeline = timeline_of(events);
  REQUIRE(timeline.GBps.size() == 2);
  CHECK(moved(timeline, "rs_read") == Approx(reads));
  CHECK(moved(timeline, "rs_write") == Approx(updates));
  CHECK(timeline.GBps.at("rs_read").size() <= 401);
  CHECK(timeline.end_us() >= us);
}

TEST_CASE("time begins after the setup") {
  const auto timeline = timeline_of({counter(1, "HBM: setup", 100), counter(3, "HBM: setup", 0),
                                     counter(10, "HBM: gemm_read", 7), counter(12, "HBM: gemm_read", 0)},
                                    10);
  REQUIRE(timeline.GBps.count("setup") == 0);
  REQUIRE(timeline.GBps.at("gemm_read").at(0) == Approx(7));
  REQUIRE(timeline.GBps.at("gemm_read").at(1) == Approx(7));
}

}  // namespace t3vp::test::traffic_test
