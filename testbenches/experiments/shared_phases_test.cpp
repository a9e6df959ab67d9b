// Experiments with shared_phases: ideal methods take equal phases from other runs.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "experiment/value_range.h"
#include "experiments/small_experiment.h"

namespace t3vp::test::shared_phases_test {

using nlohmann::json;
namespace fs = std::filesystem;

namespace {

std::string in_summary(const std::vector<double>& all) {
  return fmt::format("{:.4g}, {}", all.front(), text_of(*range_of(all)));
}

}  // namespace

TEST_CASE("ideal methods share the phases of other runs and agree with runs of their own") {
  const std::string topology = GENERATE("ring", "fully-connected"), algorithm = topology == "ring" ? "ring" : "direct";
  CAPTURE(topology);
  const SmallExperiment files;
  files.change("experiment.json", "/shared_phases", true);
  files.change("experiment.json", "/methods", {"ideal-overlap", "ideal-rs-nmc", "sequential", "t3"});
  files.change(
      "experiment.json", "/cases",
      {{{"name", "square"},
        {"set",
         {{"workload.gemm.k", 1024}, {"system.links.topology", topology}, {"collectives.algorithm", algorithm}}}}});
  REQUIRE(files.run().exit_code == 0);
  CHECK(files.runs().size() == 4);  // sequential, t3, RS and AG, RS near memory
  const fs::path csv = files.out() / "results.csv";
  for (const std::string method : {"ideal-overlap", "ideal-rs-nmc"}) {
    INFO(method);
    REQUIRE(run_program({"run", files.ValidFiles::run(), "--set", "workload.gemm.k=1024", "--set", "method=" + method,
                         "--set", "system.links.topology=" + topology, "--set", "collectives.algorithm=" + algorithm,
                         "--out", files / method})
                .exit_code == 0);
    const json report = json_of(files / method / "report.json"), times = report.at("time_ns");
    const auto ours = [&](const std::string& phase) { return value(csv, "square", method, "time_ns." + phase); };
    CHECK(ours("gemm") == times.at("gemm").get<double>());
    CHECK(ours("zeroing") == 0);
    for (const char* phase : {"reduce_scatter", "all_gather", "total"})
      CHECK(ours(phase) == Approx(times.at(phase).get<double>()).epsilon(0.005));
    CHECK(ours("total") == std::max(ours("gemm"), ours("reduce_scatter")) + ours("all_gather"));
    for (const char* traffic : {"rs_read", "rs_write", "ag_read", "ag_write", "collective_read", "collective_write"})
      if (report.at("dram_bytes").contains(traffic))
        CHECK(value(csv, "square", method, std::string("dram_bytes.") + traffic) ==
              report.at("dram_bytes").at(traffic).get<double>());
  }
}

TEST_CASE("without a sequential run, the isolated GEMM is simulated once for both ideal methods") {
  const SmallExperiment files;
  json content = json_of(files.file());
  content["shared_phases"] = true;
  for (const char* key : {"quantities", "reference", "targets", "plot"}) content.erase(key);
  content["methods"] = {"ideal-overlap", "ideal-rs-nmc"};
  content["cases"] = {{{"name", "square"}, {"set", json::object()}}};
  files.write("experiment.json", content);
  REQUIRE(files.run().exit_code == 0);
  CHECK(files.runs().size() == 3);
  const fs::path csv = files.out() / "results.csv";
  for (const char* key : {"time_ns.gemm", "time_ns.all_gather", "dram_bytes.ag_write"})
    CHECK(value(csv, "square", "ideal-overlap", key) == value(csv, "square", "ideal-rs-nmc", key));
}

TEST_CASE("settings of the command line go into the runs that share phases too") {
  const SmallExperiment files;
  json content = json_of(files.file());
  content["shared_phases"] = true;
  for (const char* key : {"quantities", "reference", "targets", "plot"}) content.erase(key);
  content["methods"] = {"ideal-rs-nmc"};
  files.write("experiment.json", content);
  REQUIRE(files.run("results", {"--set", "workload.gemm.m=128"}).exit_code == 0);
  CHECK(files.runs().size() == 3);
  for (const auto& run : files.runs()) CHECK(json_of(run / "run.json").at("/workload/gemm/m"_json_pointer) == 128);
}

TEST_CASE("a timeline of rows that are no runs of their own is an error") {
  const SmallExperiment files;
  json content = json_of(files.file());
  content["shared_phases"] = true;
  content["trace"] = true;
  content["methods"] = {"sequential", "ideal-overlap"};
  content["plot"] = {{{"file", "traffic"}, {"kind", "timeline"}, {"methods", {"ideal-overlap"}}}};
  for (const char* key : {"quantities", "targets", "reference"}) content.erase(key);
  files.write("experiment.json", content);
  const Outcome outcome = files.run();
  CHECK(outcome.exit_code == 1);
  CHECK(outcome.err ==
        files.file().string() + ": /plot/0: no picture: no row of its methods is one run with a timeline\n");
}

TEST_CASE("rows of ideal methods take each phase from one replicate of its run") {
  const SmallExperiment files;
  json content = json_of(files.file());
  content["shared_phases"] = true;
  for (const char* key : {"reference", "targets", "plot"}) content.erase(key);
  content["replicates"] = 3;
  content["cases"] = {{{"name", "square"}, {"set", json::object()}}};
  content["methods"] = {"sequential", "ideal-overlap"};
  content["quantities"] = {{{"name", "ideal"}, {"value", "time_ns.total[ideal-overlap]"}}};
  files.write("experiment.json", content);
  REQUIRE(files.run().exit_code == 0);
  std::map<std::string, std::vector<double>> times;
  for (const fs::path& run : files.runs()) {
    const json report = json_of(run / "report.json");
    for (const auto& time : report.at("replicates").at("time_ns").items())
      if (time.key() != "gemm" || report.at("method") == "sequential")
        if (report.at("method") != "sequential" || time.key() == "gemm")
          times[time.key()] = time.value().at("values").get<std::vector<double>>();
  }
  std::vector<double> totals;
  for (std::size_t i = 0; i < 3; ++i)
    totals.push_back(std::max(times.at("gemm")[i], times.at("reduce_scatter")[i]) + times.at("all_gather")[i]);
  CHECK_THAT(text_of(files.out() / "result.md"), Catch::Contains("| " + in_summary(totals) + " |"));
}

}  // namespace t3vp::test::shared_phases_test
