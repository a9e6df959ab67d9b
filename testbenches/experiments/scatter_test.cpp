// Points of one quantity against another, and those that no other dominates.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <iterator>
#include <sstream>

#include "command_line/refusals.h"
#include "experiment/point_names.h"
#include "experiment/scatter_points.h"
#include "experiments/small_experiment.h"

namespace t3vp::test::scatter_test {

using nlohmann::json;

namespace {

/// Three shapes by two methods, and these plots of them.
struct Shapes : SmallExperiment {
  explicit Shapes(const json& plots) {
    json content = json_of(file());
    for (const char* key : {"cases", "reference", "targets"}) content.erase(key);
    content["cross"] = json::array(
        {{{"key", "workload.gemm.m"}, {"values", {512, 64, 128}}}, {{"key", "simulate"}, {"values", {"all"}}}});
    content["methods"] = {"sequential", "t3"};
    content["quantities"] = {{{"name", "T3, us"}, {"value", "time_ns.total[t3] / 1000"}},
                             {{"name", "nothing"}, {"value", "tracker.spills[t3]"}}};
    content["plot"] = plots;
    write("experiment.json", content);
  }

  std::string script(const std::string& name) const { return text_of(out() / (name + ".gnuplot")); }
  double figure(double m, const char* method, const char* key) const {
    return value(out() / "results.csv", fmt::format("{} all", m), method, key);
  }
};

json plot(const char* file, const char* kind, json keys) {
  keys["file"] = file;
  keys["kind"] = kind;
  return keys;
}

/// The rows of a data block: x and y, each with its least and most value.
std::vector<std::vector<double>> block(const std::string& script, const std::string& name) {
  std::istringstream in(script.substr(script.find(name + " << EOD\n") + name.size() + 8));
  std::vector<std::vector<double>> rows;
  for (std::string line; std::getline(in, line) && line != "EOD";) {
    std::istringstream numbers(line);
    rows.emplace_back(std::istream_iterator<double>(numbers), std::istream_iterator<double>());
  }
  return rows;
}

std::vector<std::size_t> front(const Plot& plot, const std::vector<std::pair<double, double>>& places) {
  std::vector<ScatterPoint> points;
  for (const auto& [x, y] : places) points.push_back({points.size(), "", {x, {}}, {y, {}}});
  std::vector<std::size_t> numbers;
  for (const ScatterPoint& point : front_of(plot, points)) numbers.push_back(point.case_index);
  return numbers;
}

}  // namespace

TEST_CASE("a scatter plot has a named point for each case and method, with its range over replicates") {
  const Shapes files(
      {plot("times", "scatter", {{"x", "time_ns.total"}, {"y", "dram_bytes.gemm_read"}}),
       plot("some", "scatter", {{"x", "T3, us"}, {"y", "time_ns.gemm"}, {"methods", {"t3"}}}),
       plot("cases", "scatter", {{"x", "workload.gemm.m"}, {"y", "T3, us"}, {"x_scale", "logarithmic"}})});
  const Outcome outcome = files.run("results", {"--replicates", "2"});
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  const double ms[] = {512, 64, 128};
  for (const std::size_t method : {0u, 1u}) {
    const auto rows = block(files.script("times"), fmt::format("$points{}", method));
    REQUIRE(rows.size() == 3);
    for (std::size_t m = 0; m < 3; ++m) {
      const char* const name = method == 0 ? "sequential" : "t3";
      CHECK(rows[m][0] == Approx(files.figure(ms[m], name, "time_ns.total")).epsilon(1e-5));
      CHECK(rows[m][1] < rows[m][2]);
      CHECK(rows[m][3] == Approx(files.figure(ms[m], name, "dram_bytes.gemm_read")).epsilon(1e-5));
      CHECK(rows[m][4] == rows[m][5]);
    }
  }
  CHECK_THAT(files.script("times"),
             Catch::Contains("using 1:4:2:3:5:6 with xyerrorbars") && Catch::Contains("set label \"512 all\"") &&
                 Catch::Contains("set xlabel \"total time (ns)\"\n") && Catch::Contains("title \"sequential\""));
  CHECK_THAT(files.script("times"), !Catch::Matches("[^]*with points[^]*with xyerrorbars[^]*"));
  CHECK_THAT(files.script("some"), !Catch::Contains("$points1") && Catch::Contains("title \"t3\""));
  const auto rows = block(files.script("cases"), "$points0");
  REQUIRE(rows.size() == 3);
  CHECK(rows[1][0] == 64);
  CHECK(rows[1][3] == Approx(files.figure(64, "t3", "time_ns.total") / 1000).epsilon(1e-5));
  CHECK(rows[1][4] < rows[1][5]);
  CHECK_THAT(files.script("cases"), Catch::Contains("set logscale x\n") && !Catch::Contains("$points1"));
}

TEST_CASE("a point is at its case's number when not all cases are run") {
  const Shapes files(json::array({plot("cases", "scatter", {{"x", "workload.gemm.m"}, {"y", "T3, us"}})}));
  const Outcome outcome = files.run("results", {"--case", "128"});
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  const auto rows = block(files.script("cases"), "$points0");
  REQUIRE(rows.size() == 1);
  CHECK(rows[0][0] == 128);
  CHECK_THAT(files.script("cases"), !Catch::Contains("errorbars"));
}

TEST_CASE("the front has the points that no other dominates, in the given directions") {
  const std::vector<std::pair<double, double>> places{{1, 9}, {2, 5}, {3, 6}, {4, 1}, {4, 2}, {2, 5}, {1, 10}, {9, 9}};
  using Numbers = std::vector<std::size_t>;
  Plot plot;
  CHECK(front(plot, places) == Numbers{0, 1, 5, 3});
  plot.x_figure.higher_is_better = true;
  CHECK(front(plot, places) == Numbers{3, 7});
  plot.y_figure.higher_is_better = true;
  CHECK(front(plot, places) == Numbers{6, 7});
  CHECK(front(plot, {{1, 3}, {2, 2}, {3, 1}, {1, 1}}) == Numbers{0, 1, 2});
  plot.x_figure.higher_is_better = false;
  CHECK(front(plot, places) == Numbers{6});
  CHECK(front(plot, {}).empty());
}

TEST_CASE("a Pareto plot marks and joins the front, and the summary lists it") {
  const json keys = {{"x", "workload.gemm.m"}, {"y", "time_ns.total"}, {"y_better", "lower"}, {"title", "Rows"}};
  json more = keys, fewer = keys;
  more["x_better"] = "higher";
  fewer["x_better"] = "lower";
  const Shapes files({plot("more", "pareto", more), plot("fewer", "pareto", fewer)});
  const Outcome outcome = files.run();
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  const auto rows = block(files.script("more"), "$front");
  REQUIRE(rows.size() == 3);
  for (std::size_t m = 0; m < 3; ++m)
    CHECK(rows[m][3] == Approx(std::min(files.figure(rows[m][0], "t3", "time_ns.total"),
                                        files.figure(rows[m][0], "sequential", "time_ns.total")))
                            .epsilon(1e-5));
  CHECK(block(files.script("fewer"), "$front").size() == 1);
  CHECK_THAT(files.script("more"), Catch::Contains("with fsteps") && Catch::Contains("pointsize 2"));
  CHECK_THAT(files.script("fewer"), Catch::Contains("with steps"));
  const std::string text = text_of(files.out() / "result.md");
  const auto table = text.find("## Pareto front: Rows\n");
  REQUIRE(table != std::string::npos);
  for (const char* name : {"| 64 all ", "| 128 all ", "| 512 all "}) CHECK(text.find(name, table) != std::string::npos);
}

TEST_CASE("the summary names points that have no value") {
  const json keys = {{"x", "time_ns.total"}, {"y", "time_ns.fused"}, {"methods", {"sequential", "t3"}}};
  const Shapes files(json::array({plot("some", "scatter", keys)}));
  REQUIRE(files.run().exit_code == 0);
  const std::string text = text_of(files.out() / "result.md");
  CHECK_THAT(text, Catch::Contains("Not drawn in some, for want of a value: 512 all, sequential; 64 all, sequential; "
                                   "128 all, sequential.\n"));
}

TEST_CASE("names stand beside their points, inside the drawing, and never on each other") {
  CHECK_THAT(point_names({{50, 50, "a"}}, 100, 100), Catch::Contains("set label \"a\" at graph 0.5"));
  std::vector<NamedPoint> crowd;
  for (int i = 0; i < 30; ++i) crowd.push_back({50 + i * 0.1, 50, "name"});
  const std::string names = point_names(crowd, 100, 100);
  const auto count = std::count(names.begin(), names.end(), '\n');
  CHECK(count > 1);
  CHECK(count < 9);
  CHECK(point_names({{5, 5, "a name that is too long"}}, 40, 40).empty());
}

TEST_CASE("a bad plot of points is refused at its key") {
  const std::pair<json, const char*> wrong[] = {
      {plot("x", "scatter", {{"y", "time_ns.total"}}), "x"},
      {plot("x", "scatter", {{"x", 0}, {"y", "time_ns.total"}}), "x"},
      {plot("x", "scatter", {{"x", "time_ns.total"}, {"y", "T4, us"}}), "y"},
      {plot("x", "scatter", {{"x", "simulate"}, {"y", "time_ns.total"}}), "x"},
      {plot("x", "scatter", {{"x", "T3, us"}, {"y", "time_ns.total"}, {"x_scale", "categories"}}), "x_scale"},
      {plot("x", "scatter", {{"x", "T3, us"}, {"y", "time_ns.total"}, {"y_better", "lower"}}), "y_better"},
      {plot("x", "pareto", {{"x", "T3, us"}, {"y", "time_ns.total"}, {"y_better", "lower"}}), "x_better"},
      {plot("x", "pareto", {{"x", "T3, us"}, {"y", "time_ns.total"}, {"x_better", "lower"}}), "y_better"},
      {plot("x", "pareto", {{"x", "T3, us"}, {"y", "time_ns.total"}, {"y_better", "more"}}), "y_better"},
      {plot("x", "scatter", {{"x", "T3, us"}, {"y", "workload.gemm.m"}, {"methods", {"t3"}}}), "methods"},
      {plot("x", "scatter", {{"x", "T3, us"}, {"y", "time_ns.total"}, {"unit", "us"}}), "unit"},
      {plot("x", "lines", {{"x", "workload.gemm.m"}}), "x"},
      {plot("x", "bars", {{"x_scale", "linear"}}), "x_scale"},
  };
  for (const auto& [entry, key] : wrong) {
    const Shapes files(json::array({entry}));
    INFO(entry);
    require_refusal(files.run(), (files / "experiment.json: /plot/0/").string() + key);
  }
  const Shapes files(json::array({plot("x", "scatter", {{"x", "seed"}, {"y", "T3, us"}, {"x_scale", "logarithmic"}})}));
  files.change("experiment.json", "/cross/0", {{"key", "seed"}, {"values", {0, 2}}});
  require_refusal(files.run(), (files / "experiment.json: /plot/0/x_scale").string());
}

TEST_CASE("values that a picture has no place for are an error with the first of them") {
  const Shapes files({plot("a", "scatter", {{"x", "nothing"}, {"y", "T3, us"}, {"x_scale", "logarithmic"}}),
                      plot("b", "lines", {{"x", 0}, {"quantities", {"nothing"}}, {"scale", "logarithmic"}}),
                      plot("c", "scatter", {{"x", "T3, us"}, {"y", "gpu0.cache.hit"}})});
  const Outcome outcome = files.run();
  CHECK(outcome.exit_code == 1);
  for (const char* line : {"/plot/0: no picture: nothing is 0 in case 64 all, and a logarithmic axis needs",
                           "/plot/1: no picture: nothing is 0 in case 64 all, and a logarithmic axis needs",
                           "/plot/2: no picture: no case has both T3, us and gpu0.cache.hit\n",
                           "/plot/2/y: found gpu0.cache.hit, expected a figure"})
    CHECK_THAT(outcome.err, Catch::Contains(line));
}

}  // namespace t3vp::test::scatter_test
