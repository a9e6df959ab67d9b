// Pictures speak to people: words for keys, units, a baseline, values where bars are nearly equal.
#include <catch2/catch.hpp>

#include "command_line/refusals.h"
#include "experiment/category_axis.h"
#include "experiments/small_experiment.h"
#include "report/metric_names.h"

namespace t3vp::test::readable_pictures_test {

using nlohmann::json;

namespace {

/// An experiment without targets whose quantity is near to this number in every case: "1.02 + k / 1e6".
struct Numbers : SmallExperiment {
  Numbers(const std::vector<std::string>& values, const json& plot, json more = json::object()) {
    json content = json_of(file());
    for (const char* key : {"reference", "targets"}) content.erase(key);
    content["methods"] = {"t3"};
    content["quantities"] = json::array();
    for (const std::string& value : values)
      content["quantities"].push_back({{"name", "q" + std::to_string(content["quantities"].size())},
                                       {"value", value + " + 0 * time_ns.total[t3]"}});
    content["plot"] = json::array({plot});
    content.update(more);
    write("experiment.json", content);
  }
  std::string script(const std::vector<std::string>& more = {}) const {
    const Outcome outcome = run("results", more);
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    return text_of(out() / "p.gnuplot");
  }
};

json bars(json keys = json::object()) {
  keys["file"] = "p";
  keys["kind"] = "bars";
  return keys;
}

json lines(json keys = json::object()) {
  keys["file"] = "p";
  keys["kind"] = "lines";
  return keys;
}

std::vector<ExperimentCase> cases_of(const std::vector<std::string>& groups, const std::vector<std::string>& entries) {
  std::vector<ExperimentCase> cases;
  for (const std::string& group : groups)
    for (const std::string& entry : entries) cases.push_back({group + " " + entry, {group, entry}, {}, ""});
  return cases;
}

}  // namespace

TEST_CASE("a baseline is drawn where the plot has one, and lies within the picture") {
  for (const json& plot : {bars({{"baseline", 1}}), lines({{"baseline", 1}})}) {
    const Numbers files({"1.4", "1.5"}, plot);
    CHECK_THAT(files.script(), Catch::Contains("set arrow from graph 0, first 1 to graph 1, first 1 nohead"));
  }
  CHECK_THAT(Numbers({"1.4"}, bars()).script(), !Catch::Contains("set arrow"));
  CHECK_THAT(Numbers({"1.40", "1.41"}, bars({{"baseline", 1}})).script(),
             Catch::Matches("[^]*set yrange \\[0\\.[89][0-9]*:[^]*"));
  const Numbers refused({"1"}, {{"file", "p"}, {"kind", "heat-map"}, {"baseline", 1}});
  require_refusal(refused.run(), (refused / "experiment.json: /plot/0/baseline").string());
}

TEST_CASE("bars that differ by at most 5% have their values above them, and the axis says that it begins elsewhere") {
  const std::string near = Numbers({"1.38", "1.40"}, bars({{"unit", "speedup"}})).script();
  CHECK_THAT(near, Catch::Contains("with labels") && Catch::Contains("%.3f") &&
                       Catch::Contains("\"speedup (axis not from 0)\"") && !Catch::Contains("set yrange [0:1."));
  const std::string far = Numbers({"1.38", "1.58"}, bars({{"unit", "speedup"}})).script();
  CHECK_THAT(far,
             !Catch::Contains("with labels") && Catch::Contains("\"speedup\"") && Catch::Contains("set yrange [0:1."));
  const std::string some = Numbers({"1.38", "1.40", "1.7"}, bars()).script();
  CHECK_THAT(some, Catch::Contains("with labels") && Catch::Contains("set yrange [0:1."));
  CHECK_THAT(Numbers({"1.4", "1.4"}, bars()).script(), !Catch::Contains("with labels"));
}

TEST_CASE("names that all cases of a group share are written once below them") {
  const CategoryAxis grouped(cases_of({"small", "large"}, {"OP", "FC-1", "FC-2"}), 2, {}, 14);
  const std::string commands = grouped.commands(grouped.room(), 500);
  for (const char* name : {"\"small\"", "\"large\""}) {
    const auto first = commands.find(name);
    REQUIRE(first != std::string::npos);
    CHECK(commands.find(name, first + 1) == std::string::npos);
  }
  CHECK_THAT(commands, !Catch::Contains("rotate"));
  CHECK(grouped.place(3, 0) - grouped.place(2, 1) > grouped.place(1, 0) - grouped.place(0, 1));
  CHECK(CategoryAxis::groups_in(cases_of({"small", "large"}, {"OP", "FC-1"})) == std::vector<std::size_t>{0, 2});
  const CategoryAxis slanted(cases_of({"one"}, {std::string(50, 'x'), std::string(50, 'y')}), 1, {}, 14);
  CHECK_THAT(slanted.commands(slanted.room(), 500), Catch::Contains("rotate by -45") && Catch::Contains("\"one xxx"));
}

TEST_CASE("bars of several methods have the methods' names below them") {
  const Numbers files({"1"},
                      {{"file", "p"}, {"kind", "stacks"}, {"keys", {"time_ns.gemm", "time_ns.exposed_communication"}}},
                      {{"methods", {"sequential", "t3"}}, {"labels", {{"sequential", "one by one"}}}});
  CHECK_THAT(files.script(), Catch::Contains("\"one by one\" at first 1,") && Catch::Contains("rotate by 90 right") &&
                                 Catch::Contains("title \"GEMM\"") &&
                                 Catch::Contains("title \"exposed communication\"") && !Catch::Contains("time_ns"));
}

TEST_CASE("labels stand in place of quantities, metrics and keys, and have to name one") {
  const json axis = {{{"key", "workload.gemm.k"}, {"values", {32, 64}}, {"names", {"few", "64 columns"}}}};
  const json labels = {{"q0", "first speedup"}, {"workload.gemm.k", "depth (columns)"}, {"time_ns.total", "all (ns)"}};
  const Numbers files({"1", "2"}, lines(), {{"cases", nullptr}, {"cross", axis}, {"labels", labels}});
  json content = json_of(files.file());
  content.erase("cases");
  files.write("experiment.json", content);
  CHECK_THAT(files.script(), Catch::Contains("title \"first speedup\"") && Catch::Contains("\"depth (columns)\"") &&
                                 Catch::Contains("(\"few\" 32, \"64\" 64)"));
  content["labels"]["no such thing"] = "text";
  files.write("experiment.json", content);
  require_refusal(files.run("other"), (files / "experiment.json: /labels").string());
  content["labels"].erase("no such thing");
  for (const json& names : {json({"few"}), json({"few", "few"})}) {
    content["cross"][0]["names"] = names;
    files.write("experiment.json", content);
    require_refusal(files.run("other"), (files / "experiment.json: /cross/0/names").string());
  }
}

TEST_CASE("quantities can be the points of a line, which each case then is") {
  const json by_slice = {{"x_values", {64, 4}}, {"x_label", "slice (tables)"}};
  const std::string script = Numbers({"7", "5"}, lines(by_slice)).script();
  CHECK_THAT(script, Catch::Contains("$line0 << EOD\n4 5\n64 7\nEOD") && Catch::Contains("title \"square\"") &&
                         Catch::Contains("title \"tall\"") && Catch::Contains("\"slice (tables)\""));
  const auto refused = [](json keys, const char* place) {
    const Numbers files({"7", "5"}, lines(std::move(keys)));
    require_refusal(files.run(), (files / "experiment.json: /plot/0/").string() + place);
  };
  refused({{"x_values", {1, 2, 3}}, {"x_label", "x"}}, "x_values");
  refused({{"x_values", {1, 2}}}, "x_label");
  refused({{"x_label", "x"}}, "x_label");
  refused({{"x_values", {1, 2}}, {"x_label", "x"}, {"x", 0}}, "x");
  refused({{"x_values", {0, 2}}, {"x_label", "x"}, {"x_scale", "logarithmic"}}, "x_values");
}

TEST_CASE("more than six lines are divided into panels with one legend and equal axes") {
  const json axes = {{{{"name", "a"}, {"set", {{"seed", 1}}}},
                      {{"name", "b"}, {"set", {{"seed", 2}}}},
                      {{"name", "c"}, {"set", {{"seed", 3}}}}},
                     {{"key", "workload.gemm.k"}, {"values", {32, 64}}}};
  const Numbers files({"1", "2", "3"}, lines(), {{"cross", axes}});
  json content = json_of(files.file());
  content.erase("cases");
  files.write("experiment.json", content);
  const std::string script = files.script();
  for (const char* title : {"set title \"a\"", "set title \"b\"", "set title \"c\""})
    CHECK_THAT(script, Catch::Contains(title));
  std::size_t legends = 0;
  for (auto at = script.find("keyentry with linespoints title \"q1\""); at != std::string::npos;
       at = script.find("keyentry with linespoints title \"q1\"", at + 1))
    ++legends;
  CHECK(legends == 1);
  CHECK(script.find("set yrange [0:1]") < script.find("set yrange", script.find("set yrange [0:1]") + 1));
}

TEST_CASE("metrics have names and units for people") {
  CHECK(name_of_metric("dram_bytes.rs_read") == "reduce-scatter reads");
  CHECK(name_of_metric("dram_bytes.pooling_write") == "pooling writes");
  CHECK(name_of_metric("time_ns.all_to_all_back") == "all-to-all, backward");
  CHECK(name_of_metric("time_ns.exposed_reduce_scatter") == "exposed reduce-scatter");
  CHECK(title_of_metric("time_ns.total") == "total time (ns)");
  CHECK(title_of_metric("links.busiest.utilization") == "utilization of the busiest link");
  CHECK(title_of_metric("links.busiest.queueing_ns") == "queueing of the busiest link (ns)");
  CHECK(title_of_metric("gpu0.cache.hit_rate") == "cache hit rate of GPU 0");
  CHECK(title_of_metric("tracker.spills") == "tracker spills");
}

}  // namespace t3vp::test::readable_pictures_test
