// Which runs an experiment makes: each once, in any number of jobs, and only what is missing.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <thread>

#include "experiments/small_experiment.h"

namespace t3vp::test::runs_test {

using nlohmann::json;
namespace fs = std::filesystem;

namespace {

const char* const files_of_results[] = {"results.csv", "compare.csv", "result.md", "speedup.gnuplot"};

fs::file_time_type written(const fs::path& run) { return fs::last_write_time(run / "report.json"); }

std::vector<fs::file_time_type> times_of(const std::vector<fs::path>& runs) {
  std::vector<fs::file_time_type> times;
  for (const fs::path& run : runs) times.push_back(written(run));
  return times;
}

void replace(const fs::path& report, const char* key, const json& value, const SmallExperiment& files) {
  json content = json_of(report);
  content[key] = value;
  files.write(fs::relative(report, files / ".").string(), content);
}

}  // namespace

TEST_CASE("one and two jobs give the same files") {
  const SmallExperiment files;
  const Outcome one = files.run("one", {"--jobs", "1"}), two = files.run("two", {"--jobs", "2"});
  INFO(one.err << two.err);
  REQUIRE(one.exit_code == 0);
  REQUIRE(two.exit_code == 0);
  CHECK(one.err.find('\r') == std::string::npos);  // no progress without a terminal
  for (const char* name : files_of_results) {
    INFO(name);
    CHECK(text_of(files.out("one") / name) == text_of(files.out("two") / name));
    CHECK_FALSE(text_of(files.out("one") / name).empty());
  }
}

TEST_CASE("a second call runs nothing again and finds the same") {
  const SmallExperiment files;
  REQUIRE(files.run().exit_code == 0);
  const auto runs = files.runs();
  const auto times = times_of(runs);
  const std::string before = text_of(files.out() / "results.csv");
  REQUIRE(files.run().exit_code == 0);
  CHECK(times_of(runs) == times);
  CHECK(text_of(files.out() / "results.csv") == before);
}

TEST_CASE("only runs that are missing, broken off or of another version are repeated") {
  const SmallExperiment files;
  REQUIRE(files.run().exit_code == 0);
  const auto runs = files.runs();
  const auto times = times_of(runs);
  const std::string before = text_of(files.out() / "results.csv");
  REQUIRE(runs.size() == 6);
  fs::remove(runs[0] / "report.json");
  files.write(fs::relative(runs[1] / "report.json", files / ".").string(), std::string("{\"version\": "));
  replace(runs[2] / "report.json", "version", "0.0.1", files);
  replace(runs[3] / "report.json", "config_hash", "0123456789abcdef", files);
  REQUIRE(files.run().exit_code == 0);
  CHECK(text_of(files.out() / "results.csv") == before);
  CHECK(json_of(runs[2] / "report.json").at("version") != "0.0.1");
  CHECK(json_of(runs[3] / "report.json").at("config_hash") == runs[3].filename().string());
  CHECK(written(runs[4]) == times[4]);
  CHECK(written(runs[5]) == times[5]);
}

TEST_CASE("a report that another build of the program wrote is not trusted, whenever it was") {
  const SmallExperiment files;
  REQUIRE(files.run().exit_code == 0);
  const fs::path report = files.runs()[0] / "report.json";
  const json written = json_of(report);
  json other = written;
  other["host"]["program"] = "0123456789abcdef";
  files.write(fs::relative(report, files / ".").string(), other);
  REQUIRE(files.run().exit_code == 0);
  CHECK(json_of(report).at("host").at("program") == written.at("host").at("program"));
}

TEST_CASE("what a broken-off run with a timeline has left is not taken for one") {
  const SmallExperiment files;
  files.change("experiment.json", "/trace", true);
  REQUIRE(files.run().exit_code == 0);
  const auto runs = files.runs();
  fs::remove(runs[0] / "report.json");
  files.write(fs::relative(runs[0] / "trace.json", files / ".").string(), std::string("{\"traceEvents\": ["));
  files.change("experiment.json", "/trace", false);
  REQUIRE(files.run().exit_code == 0);
  files.change("experiment.json", "/trace", true);
  REQUIRE(files.run().exit_code == 0);
  CHECK_FALSE(json_of(runs[0] / "trace.json").at("traceEvents").empty());
}

TEST_CASE("an experiment that was killed goes on where it was") {
  const SmallExperiment files;
  json cases = json::array();
  for (int m = 1; m <= 12; ++m) cases.push_back({{"name", std::to_string(m)}, {"set", {{"workload.gemm.m", 256 * m}}}});
  files.change("experiment.json", "/cases", cases);
  REQUIRE(files.run("whole").exit_code == 0);

  const std::string program = T3VP_BINARY_DIR "/t3vp", file = files.file(), out = files.out("killed");
  const pid_t child = fork();
  if (child == 0) {
    execl(program.c_str(), "t3vp", "experiment", file.c_str(), "--out", out.c_str(), "--jobs", "1", nullptr);
    _exit(127);
  }
  while (!fs::exists(files.out("killed") / "results.csv")) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  const std::size_t partial = rows_of(files.out("killed") / "results.csv").size();
  CHECK(partial < 36);

  REQUIRE(files.run("killed").exit_code == 0);
  CHECK(text_of(files.out("killed") / "results.csv") == text_of(files.out("whole") / "results.csv"));
}

TEST_CASE("equal work under several names is simulated once") {
  const SmallExperiment files;
  const json gemm = {{"m", 256}, {"n", 256}, {"k", 64}};
  files.change("experiment.json", "/cases",
               {{{"name", "a"}, {"set", json::object()}},
                {{"name", "b"}, {"set", {{"workload.label", "another name"}, {"workload.gemm", gemm}}}}});
  REQUIRE(files.run().exit_code == 0);
  CHECK(files.runs().size() == 3);
  const fs::path csv = files.out() / "results.csv";
  CHECK(rows_of(csv).size() == 6);
  CHECK(value(csv, "a", "t3", "time_ns.total") == value(csv, "b", "t3", "time_ns.total"));
}

TEST_CASE("the product of lists has every combination, later settings last") {
  const SmallExperiment files;
  json content = json_of(files.file());
  content.erase("cases");
  content.erase("targets");
  content.erase("reference");
  // The bandwidth of x is what it is anyway; method slow has another one.
  content["cross"] = {{{{"name", "x"}, {"set", {{"system.links.bandwidth_GBps", 4}}}},
                       {{"name", "y"}, {"set", {{"workload.gemm.n", 512}}}}},
                      {{{"name", "1"}, {"set", json::object()}}, {{"name", "2"}, {"set", {{"workload.gemm.n", 384}}}}}};
  content["methods"] = {"t3", {{"name", "slow"}, {"method", "t3"}, {"set", {{"system.links.bandwidth_GBps", 2}}}}};
  content.erase("quantities");
  content.erase("plot");
  files.write("experiment.json", content);
  const Outcome outcome = files.run();
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  const fs::path csv = files.out() / "results.csv";
  REQUIRE(rows_of(csv).size() == 8);
  CHECK(value(csv, "y 1", "t3", "workload.gemm.n") == 512);
  CHECK(value(csv, "y 2", "t3", "workload.gemm.n") == 384);
  CHECK(value(csv, "x 1", "slow", "time_ns.total") > 1.3 * value(csv, "x 1", "t3", "time_ns.total"));
  CHECK(files.runs().size() == 6);  // "x 2" and "y 2" are the same
}

TEST_CASE("a run of a folder can be repeated by hand") {
  const SmallExperiment files;
  REQUIRE(files.run().exit_code == 0);
  const fs::path run = files.runs()[0];
  REQUIRE(run_program({"run", run / "run.json", "--out", files / "again"}).exit_code == 0);
  CHECK(run_program({"compare", run / "report.json", files / "again/report.json"}).exit_code == 0);
}

TEST_CASE("experiments that share a folder of runs do not repeat each other's") {
  const SmallExperiment files;
  const std::vector<std::string> shared{"--runs", (files.out("shared") / "runs").string()};
  REQUIRE(files.run("first", shared).exit_code == 0);
  const std::vector<fs::path> runs = files.runs("shared");
  const auto times = times_of(runs);
  REQUIRE(runs.size() == 6);
  REQUIRE(files.run("second", shared).exit_code == 0);
  REQUIRE(times_of(files.runs("shared")) == times);
  REQUIRE_FALSE(fs::exists(files.out("second") / "runs"));
  for (const char* file : files_of_results)
    REQUIRE(text_of(files.out("first") / file) == text_of(files.out("second") / file));
}

TEST_CASE("a layer is a row like others, and its figures go by operation and part") {
  const SmallExperiment files;
  const json layer = {
      {"layer", "prompt"}, {"tp", 2}, {"transformer", {{"hidden", 64}, {"heads", 4}, {"sequence", 32}, {"batch", 2}}}};
  json content = json_of(files.file());
  content["cases"] = {{{"name", "layer"}, {"set", json::object()}}};
  content["methods"] = {{{"name", "one"}, {"method", "sequential"}, {"set", {{"workload", layer}, {"gpus", nullptr}}}},
                        {{"name", "two"}, {"method", "sequential"}, {"set", {{"workload", layer}, {"gpus", nullptr}}}}};
  content["quantities"] = {{{"name", "softmax"}, {"value", "operations.softmax.time_ns[one]"}},
                           {{"name", "attention"}, {"value", "parts_ns.attention[two]"}}};
  content["targets"] = json::array();
  content.erase("reference");
  files.write("experiment.json", content);
  const Outcome outcome = files.run("out");
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  REQUIRE(files.runs("out").size() == 1);
  const json report = json_of(files.runs("out")[0] / "report.json");
  const fs::path results = files.out("out") / "results.csv";
  CHECK(value(results, "layer", "one", "parts_ns.attention") == report.at("parts_ns").at("attention").get<double>());
  for (const json& operation : report.at("operations"))
    if (operation.at("name") == "softmax")
      CHECK(value(results, "layer", "two", "operations.softmax.time_ns") == operation.at("time_ns").get<double>());
}

TEST_CASE("logs and pictures replace links and pipes and never follow them") {
  const SmallExperiment files;
  const fs::path victim = files.write("victim", std::string("precious"));
  REQUIRE(files.run().exit_code == 0);
  std::vector<fs::path> logs{files.out() / "speedup.log"};
  for (const fs::path& run : files.runs()) {
    fs::remove(run / "report.json");
    logs.push_back(run / "log.txt");
  }
  for (const fs::path& log : logs) {
    fs::remove(log);
    fs::create_symlink(victim, log);
  }
  logs.push_back(files.out() / "speedup.svg");
  fs::remove(logs.back());
  REQUIRE(mkfifo(logs.back().c_str(), 0600) == 0);
  const Outcome outcome =
      run_program({"experiment", files.file().string(), "--out", files.out().string()}, [] { alarm(120); });
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK(text_of(victim) == "precious");
  for (const fs::path& log : logs) CHECK(fs::is_regular_file(fs::symlink_status(log)));
}

}  // namespace t3vp::test::runs_test
