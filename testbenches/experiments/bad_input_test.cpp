// Whatever is wrong with an experiment file: one line with file and place, exit code 2, and nothing is run.
#include <catch2/catch.hpp>

#include "command_line/refusals.h"
#include "experiments/small_experiment.h"

namespace t3vp::test::bad_input_test {

using nlohmann::json;

namespace {

struct Change {
  const char* pointer;
  json value;
  const char* reported_at = nullptr;  ///< where it is not the pointer itself
};

const json one_case = {{"name", "square"}, {"set", json::object()}};

const Change changes[] = {
    {"/name", nullptr},
    {"/base", nullptr},
    {"/base", "none.json"},
    {"/base", 7},
    {"/bases", "run.json"},
    {"/cases", nullptr},
    {"/cases", json::array()},
    {"/cases/0/set", nullptr},
    {"/cases/0/sets", json::object()},
    {"/cases/1/name", ""},
    {"/cases/1/name", "square", "/cases"},
    {"/cases/1/name", "geomean", "/cases"},
    {"/cross", json::array({json::array({one_case})}), "/cases"},
    {"/methods", json::array()},
    {"/methods/0", 3},
    {"/methods/1", {{"name", "x"}}, "/methods/1/method"},
    {"/methods/1", {{"name", "x"}, {"method", "t3"}, {"sets", json::object()}}, "/methods/1/sets"},
    {"/methods/2", "t3", "/methods"},
    {"/trace", "yes"},
    {"/replicates", 0},
    {"/replicates", 1001},
    {"/quantities/0/value", nullptr},
    {"/quantities/0/value", "time_ns.total[sequential] /"},
    {"/quantities/0/value", "time_ns.totals[t3]"},
    {"/quantities/0/value", "time_ns.total[t4]"},
    {"/quantities/0/value", "config_hash[t3]"},
    {"/quantities/0/name", "RS reads", "/quantities"},
    {"/reference", "none.csv"},
    {"/targets/0/id", "unknown"},
    {"/targets/1", {{"id", "speedup"}, {"quantity", "T3"}, {"aggregate", "max"}}, "/targets/1/id"},
    {"/targets/0/quantity", "T4"},
    {"/targets/0/aggregate", "median"},
    {"/targets/0/cases", json::array({"square", "tall"})},
    {"/targets/0/cases", json::array({7}), "/targets/0/cases/0"},
    {"/targets/0/within", -1},
    {"/name", "a\nb"},
    {"/description", "a\tb"},
    {"/cases/1/name", "tall\n!touch owned"},
    {"/methods/1", {{"name", "t\r3"}, {"method", "t3"}}, "/methods/1/name"},
    {"/quantities/0/name", "T\x7f"},
    {"/targets/0/text", "\u009b1m"},
    {"/plot/0/unit", "x\nEOD\n"},
    {"/plot/0/title", "\x1b[2J"},
    {"/cases/0/set", {{"a\nb", 3}}, "/cases/0/set/a b"},
    {"/plot/1", {{"file", "speedup"}, {"kind", "bars"}}, "/plot/1/file"},
    {"/plot/0/file", std::string(101, 'x')},
    {"/plot/0/kind", "heat-map"},
    {"/plot/0", {{"file", "x"}, {"kind", "lines"}, {"x", 1}}, "/plot/0/x"},
    {"/plot/0", {{"file", "x"}, {"kind", "lines"}, {"x", -1}}, "/plot/0/x"},
    {"/plot/0/kind", "pie"},
    {"/plot/0/kind", "timeline"},
    {"/plot/0", {{"file", "x"}, {"kind", "workgroups"}}, "/plot/0/kind"},
    {"/plot/0", {{"file", "x"}, {"kind", "workgroups"}, {"unit", "us"}}, "/plot/0/unit"},
    {"/plot/0", {{"file", "x"}, {"kind", "workgroups"}, {"cluster", 0}}, "/plot/0/cluster"},
    {"/plot/0", {{"file", "x"}, {"kind", "workgroups"}, {"marks", {"put", "put"}}}, "/plot/0/marks"},
    {"/plot/0/marks", json::array({"put"})},
    {"/plot/0/cluster", 2},
    {"/plot/0/file", "../speedup"},
    {"/plot/0/quantities", json::array({"T4"})},
    {"/plot/0",
     {{"file", "x"}, {"kind", "stacks"}, {"keys", {"time_ns.total"}}, {"methods", {"t4"}}},
     "/plot/0/methods"},
    {"/plot/0", {{"file", "x"}, {"kind", "stacks"}}, "/plot/0/keys"},
    {"/plot/0", {{"file", "x"}, {"kind", "stacks"}, {"keys", {"time_ns"}}}, "/plot/0/keys"},
    // accepted they would have no effect
    {"/plot/0/methods", json::array({"t3"})},
    {"/plot/0/keys", json::array({"time_ns.total"})},
    {"/plot/0/x", 0},
    {"/plot/0", {{"file", "x"}, {"kind", "lines"}, {"y", 0}}, "/plot/0/y"},
    {"/plot/0/scale", "logarithmic"},
    {"/plot/0", {{"file", "x"}, {"kind", "lines"}, {"scale", "log"}}, "/plot/0/scale"},
    {"/plot/0", {{"file", "x"}, {"kind", "lines"}, {"methods", {"t3"}}}, "/plot/0/methods"},
    {"/plot/0",
     {{"file", "x"}, {"kind", "stacks"}, {"keys", {"time_ns.total"}}, {"quantities", {"T3"}}},
     "/plot/0/quantities"},
    {"/plot/0", {{"file", "x"}, {"kind", "stacks"}, {"keys", {"time_ns.total"}}, {"x", 0}}, "/plot/0/x"},
    {"/plot/0", {{"file", "x"}, {"kind", "timeline"}, {"divide_by", 2}}, "/plot/0/divide_by"},
    {"/plot/0", {{"file", "x"}, {"kind", "timeline"}, {"keys", {"time_ns.total"}}}, "/plot/0/keys"},
    {"/plot/0/quantities", json::array({"T3", "T3"})},
    {"/plot/0", {{"file", "x"}, {"kind", "stacks"}, {"keys", {"time_ns.total", "time_ns.total"}}}, "/plot/0/keys"},
    {"/targets/0/cases", json::array({json::array({"square", "tal"})})},
    {"/targets", json::array(), "/reference"},
    {"/cases/0/set", {{"method", "t3"}}, "/cases/0/set/method"},
    {"/cases/0/set", {{"system", "none.json"}}, "/cases/0/set/system"},
    {"/methods/1", {{"name", "x"}, {"method", "t3"}, {"set", {{"method", "t3"}}}}, "/methods/1/set/method"},
    {"/targets/1",
     {{"id", "no"}, {"quantity", "T3"}, {"aggregate", "max"}, {"within_relative", 0.1}, {"at_least", 1}},
     "/targets/1/within_relative"},
    {"/targets/1",
     {{"id", "no"}, {"quantity", "T3"}, {"aggregate", "max"}, {"at_least", 5}, {"at_most", 1}},
     "/targets/1/at_most"},
    {"/quantities/0/name", "time_ns.total"},
    {"/methods/0", "foo"},
    {"/methods/1", {{"name", "t3"}, {"method", "t4"}}, "/methods/1/method"},
    // runs that are refused
    {"/cases/1/set", {{"gpus", 5000}}, "/cases/1"},
    {"/cases/0/set", {{"workload.gemm.m", "many"}}, "/cases/0"},
    {"/cases/0/set", {{"system.links.speed", 3}}, "/cases/0"},
    {"/cases/0/set", {{"a..b", 3}}, "/cases/0"},
};

}  // namespace

TEST_CASE("a wrong value is refused where it is written, before anything runs") {
  for (const Change& c : changes) {
    const SmallExperiment files;
    files.change("experiment.json", c.pointer, c.value);
    INFO(c.pointer << " = " << c.value);
    require_refusal(files.run(), (files / "experiment.json: ").string() + (c.reported_at ? c.reported_at : c.pointer));
    CHECK_FALSE(std::filesystem::exists(files.out()));
  }
}

TEST_CASE("a refused run is quoted with the run's own message") {
  const SmallExperiment files;
  files.change("experiment.json", "/cases/1/set", {{"gpus", 1}});
  const Outcome outcome = files.run();
  CHECK_THAT(outcome.err, Catch::Contains("run.json: /gpus: found 1, expected an integer from 2 to 256"));
  CHECK_THAT(outcome.err, Catch::Contains("/methods/0"));
}

TEST_CASE("a wrong base, reference or file is refused by its own name") {
  const SmallExperiment files;
  files.write("reference.csv", std::string("id,value\nspeedup\n"));
  require_refusal(files.run(), (files / "reference.csv: row 2").string());
  for (const char* rows : {"speedup,1.5x\n", "speedup,\n", "speedup,nan\n", "reads,1\nspeedup,1\nspeedup,1\n"}) {
    files.write("reference.csv", std::string("id,value\n") + rows);
    require_refusal(files.run(), (files / "reference.csv: row ").string() + (rows[0] == 'r' ? "4" : "2"));
  }
  files.write("reference.csv", std::string("name,value\n"));
  require_refusal(files.run(), (files / "reference.csv").string());
  require_refusal(run_program({"experiment", (files / "none.json").string()}), (files / "none.json").string());
  files.write("experiment.json", std::string("{\"name\": }"));
  require_refusal(files.run(), (files / "experiment.json:1:10").string());
}

TEST_CASE("wrong options are refused") {
  const SmallExperiment files;
  for (const char* jobs : {"0", "-1", "many"}) CHECK(files.run("results", {"--jobs", jobs}).exit_code == 2);
  files.write("occupied", std::string("a file"));
  CHECK(files.run("occupied").exit_code == 2);
  CHECK(files.run("results", {"--runs", files / "occupied"}).exit_code == 2);
}

TEST_CASE("check knows experiments, and every one of the project is valid") {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(config("experiments"))) {
    if (entry.path().extension() != ".json") continue;
    const Outcome outcome = run_program({"check", entry.path().string()});
    INFO(outcome.err);
    CHECK(outcome.exit_code == 0);
    CHECK_THAT(outcome.out, Catch::Contains("a valid experiment file"));
    ++count;
  }
  CHECK(count >= 15);
}

}  // namespace t3vp::test::bad_input_test
