// The changes of an experiment by the command line.
#include <catch2/catch.hpp>

#include "command_line/refusals.h"
#include "experiments/small_experiment.h"

namespace t3vp::test::options_test {

using nlohmann::json;

namespace {

using Options = std::vector<std::string>;

}  // namespace

TEST_CASE("settings of the command line come after those of cases and methods") {
  const SmallExperiment files;
  json content = json_of(files.file());
  content["cases"][1]["set"]["workload.gemm.n"] = 384;
  content["methods"] = {"sequential", {{"name", "t3"}, {"method", "t3"}, {"set", {{"workload.gemm.n", 512}}}}};
  files.write("experiment.json", content);
  REQUIRE(files.run("first", {"--set", "workload.gemm.n=128", "--set", "seed=9"}).exit_code == 0);
  for (const auto& row : rows_of(files.out("first") / "results.csv")) {
    CHECK(row.at("workload.gemm.n") == "128");
    CHECK(row.at("workload.gemm.m") == (row.at("case") == "tall" ? "512" : "256"));
    CHECK(row.at("seed") == "9");
  }
  const std::string summary = text_of(files.out("first") / "result.md");
  CHECK_THAT(summary, Catch::Contains("\nSet for every run: workload.gemm.n=128\n"));
  REQUIRE(files.run("first").exit_code == 0);
  CHECK(value(files.out("first") / "results.csv", "square", "t3", "workload.gemm.n") == 512);
  CHECK(files.runs("first").size() == 8);  // those of the settings stay beside them
}

TEST_CASE("a setting that no run takes is refused, and so is the method") {
  const SmallExperiment files;
  const auto refused = [&](const std::string& setting) {
    const Outcome outcome = files.run("results", {"--set", setting});
    require_refusal(outcome, "--set");
    CHECK_FALSE(std::filesystem::exists(files.out()));
    return outcome.err;
  };
  for (const char* setting : {"method=t3", "method=\"t3\"", "workload", "=3", "a..b=3"}) refused(setting);
  CHECK_THAT(refused("method=t3"), Catch::Contains("expected a key that is not the method"));
  const std::string why = refused("system.links.speed=3");
  CHECK_THAT(why, Catch::Contains("experiment.json: /cases/0 and /methods/0") &&
                      Catch::Contains("system.json: /links/speed: found an unknown key (--set)"));
  files.change("experiment.json", "/cases/0/set", {{"gpus", 1}});
  require_refusal(files.run("results", {"--set", "seed=2"}), (files / "experiment.json: /cases/0").string());
}

TEST_CASE("neither a setting nor a method replaces the values of an axis") {
  const SmallExperiment files;
  json content = json_of(files.file());
  content["cross"] = json::array({content["cases"], {{"key", "workload.gemm.k"}, {"values", {32, 64}}}});
  for (const char* key : {"cases", "quantities", "reference", "targets", "plot"}) content.erase(key);
  files.write("experiment.json", content);
  for (const char* setting : {"workload.gemm.k=128", R"(workload.gemm={"m": 128, "n": 128, "k": 64})"})
    require_refusal(files.run("results", {"--set", setting}), "--set");
  json twice = content;
  twice["cross"].push_back({{"key", "workload.gemm.k"}, {"values", {96, 128}}});
  files.write("experiment.json", twice);
  require_refusal(files.run("results"), (files / "experiment.json: /cross/2").string());
  content["methods"] = json::array({{{"name", "deep"}, {"method", "t3"}, {"set", {{"workload.gemm.k", 128}}}}});
  files.write("experiment.json", content);
  require_refusal(files.run("results"), (files / "experiment.json: /methods/0").string());
}

TEST_CASE("cases are chosen by name or tag, and what needs the others is left out with a line") {
  const SmallExperiment files;
  json content = json_of(files.file());
  content["cross"] = json::array({content["cases"], {{"key", "workload.gemm.k"}, {"values", {32, 64}}}});
  content.erase("cases");
  content["targets"][0]["cases"] = {"tall"};
  content["plot"].push_back({{"file", "lines"}, {"kind", "lines"}});
  content["plot"].push_back({{"file", "heat"}, {"kind", "heat-map"}});
  files.write("experiment.json", content);
  const auto cases = [&](const Options& options) {
    std::filesystem::remove_all(files.out());
    const Outcome outcome = files.run("results", options);
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    Options names;
    for (const auto& row : rows_of(files.out() / "results.csv"))
      if (row.at("method") == "t3") names.push_back(row.at("case"));
    CHECK(rows_of(files.out() / "results.csv").size() == 3 * names.size());
    return names;
  };
  CHECK(cases({"--case", "tall"}) == Options{"tall 32", "tall 64"});
  const std::string summary = text_of(files.out() / "result.md");
  for (const char* part : {"plot lines", "plot heat", "target reads"})
    CHECK_THAT(summary, Catch::Contains("\nLeft out: " + std::string(part) + ", which needs cases that are not run\n"));
  CHECK_THAT(summary, !Catch::Contains("plot speedup") && Catch::Contains("| T3 speedup "));
  CHECK_FALSE(std::filesystem::exists(files.out() / "lines.gnuplot"));
  CHECK(std::filesystem::exists(files.out() / "speedup.gnuplot"));
  CHECK(cases({"--case", "square 64", "--case", "32"}) == Options{"square 32", "square 64", "tall 32"});
  CHECK(cases({"--case", "tall", "--case", "square"}).size() == 4);
  CHECK_THAT(text_of(files.out() / "result.md"), !Catch::Contains("Left out"));
  const Outcome unknown = files.run("unknown", {"--case", "tall", "--case", "wide"});
  require_refusal(unknown, "--case");
  CHECK_THAT(unknown.err,
             Catch::Contains("found wide, expected the name of a case or of an entry, such as square, 32, 64, tall"));
}

}  // namespace t3vp::test::options_test
