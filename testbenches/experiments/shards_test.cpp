// Shards of an experiment, and what --status says about its runs.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <map>
#include <set>

#include "command_line/refusals.h"
#include "experiments/small_experiment.h"

namespace t3vp::test::shards_test {

using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// When each run's report was written.
std::map<std::string, fs::file_time_type> reports_of(const SmallExperiment& files, const std::string& out) {
  std::map<std::string, fs::file_time_type> written;
  if (!fs::exists(files.out(out) / "runs")) return written;
  for (const fs::path& run : files.runs(out))
    if (fs::exists(run / "report.json")) written[run.filename()] = fs::last_write_time(run / "report.json");
  return written;
}

std::map<std::string, fs::file_time_type> logs_of(const fs::path& runs) {
  std::map<std::string, fs::file_time_type> written;
  for (const auto& entry : fs::directory_iterator(runs))
    written[entry.path().filename()] = fs::last_write_time(entry.path() / "log.txt");
  return written;
}

/// Every file and folder, with the time of its last change.
std::set<std::pair<std::string, fs::file_time_type>> state_of(const fs::path& folder) {
  std::set<std::pair<std::string, fs::file_time_type>> entries;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    entries.emplace(entry.path(), fs::last_write_time(entry.path()));
  return entries;
}

std::string shown(int passed, int running, int failed, int missing) {
  return ": " + std::to_string(passed) + " of 6 runs passed, " + std::to_string(running) + " running, " +
         std::to_string(failed) + " failed, " + std::to_string(missing) + " missing\n";
}

}  // namespace

TEST_CASE("shards share no run, have all of them together, and write no results") {
  const SmallExperiment files;
  REQUIRE(files.run("whole").exit_code == 0);
  std::map<std::string, fs::file_time_type> made;
  for (const char* shard : {"3/4", "1/4", "4/4", "2/4"}) {
    const Outcome outcome = files.run("shards", {"--shard", shard});
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    CHECK_THAT(outcome.out, Catch::StartsWith("shard " + std::string(shard) + ": ") &&
                                Catch::Contains("of 6 runs, 0 failed") &&
                                Catch::Contains("the command without --shard writes the results\n"));
    const auto now = reports_of(files, "shards");
    CHECK(now.size() > made.size());
    for (const auto& run : made) CHECK(now.at(run.first) == run.second);
    made = now;
  }
  CHECK(made.size() == 6);
  for (const char* name : {"results.csv", "compare.csv", "result.md"})
    CHECK_FALSE(fs::exists(files.out("shards") / name));

  REQUIRE(files.run("shards").exit_code == 0);
  CHECK(reports_of(files, "shards") == made);
  for (const char* name : {"results.csv", "compare.csv", "result.md"})
    CHECK(text_of(files.out("shards") / name) == text_of(files.out("whole") / name));
}

TEST_CASE("a shard has the same runs whatever has been made, and goes on where it was") {
  const SmallExperiment files;
  REQUIRE(files.run("first", {"--shard", "2/2"}).exit_code == 0);
  const auto second_half = reports_of(files, "first");
  CHECK(second_half.size() == 3);
  REQUIRE(files.run("other", {"--shard", "1/2"}).exit_code == 0);
  REQUIRE(files.run("other", {"--shard", "2/2"}).exit_code == 0);
  for (const auto& run : second_half) {
    CHECK(reports_of(files, "other").count(run.first) == 1);
    fs::remove(files.out("other") / "runs" / run.first / "report.json");
  }
  const std::string kept = second_half.begin()->first;
  fs::copy(files.out("first") / "runs" / kept / "report.json", files.out("other") / "runs" / kept / "report.json");
  const auto before = reports_of(files, "other");
  REQUIRE(before.size() == 4);
  REQUIRE(files.run("other", {"--shard", "2/2"}).exit_code == 0);
  const auto after = reports_of(files, "other");
  CHECK(after.size() == 6);
  for (const auto& run : before) CHECK(after.at(run.first) == run.second);
}

TEST_CASE("a run that fails is named by its shard and by --status, and made once more with the results") {
  const SmallExperiment files;
  files.change("experiment.json", "/cases/1/set", {{"workload.gemm.m", 512}, {"limits.simulated_ms", 0.001}});
  files.change("experiment.json", "/targets", json::array());
  files.change("experiment.json", "/reference", nullptr);
  for (const char* shard : {"1/2", "2/2"}) {
    const Outcome outcome = files.run("results", {"--shard", shard});
    CHECK(outcome.exit_code == 1);
    CHECK_THAT(outcome.err,
               Catch::Contains("tall, ") && Catch::Contains("limits.simulated_ms") && Catch::Contains("log.txt)\n"));
  }
  const auto reports = reports_of(files, "results");
  const auto logs = logs_of(files.out() / "runs");
  for (const std::vector<std::string>& options : {std::vector<std::string>{"--status"}, {}}) {
    const Outcome outcome = files.run("results", options);
    CHECK(outcome.exit_code == 1);
    for (const char* method : {"sequential", "t3", "t3-mca"})
      CHECK_THAT(outcome.err, Catch::Contains("tall, " + std::string(method) + ": t3vp: limits.simulated_ms"));
    std::size_t again = 0;
    for (const auto& log : logs_of(files.out() / "runs"))
      if (logs.at(log.first) != log.second) ++again;
    CHECK(again == (options.empty() ? 3 : 0));
  }
  CHECK(reports_of(files, "results") == reports);
  CHECK_THAT(files.run("results", {"--status"}).out, Catch::EndsWith(shown(3, 0, 3, 0)));
}

TEST_CASE("a failed run is made once more in all by the jobs of a submission") {
  const SmallExperiment files;
  files.change("experiment.json", "/cases/1/set", {{"workload.gemm.m", 512}, {"limits.simulated_ms", 0.001}});
  files.change("experiment.json", "/targets", json::array());
  files.change("experiment.json", "/reference", nullptr);
  const auto retries = [&](const std::vector<std::string>& options, const char* submission) {
    std::vector<std::string> arguments{"experiment", files.file().string(), "--out", files.out().string()};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Outcome outcome = run_program(arguments, [&] {
      if (submission != nullptr) setenv("T3VP_SUBMISSION", submission, 1);
    });
    CHECK(outcome.exit_code == 1);
    CHECK_THAT(outcome.err, Catch::Contains("tall, t3: t3vp: limits.simulated_ms"));
    int count = 0;
    const std::string words = "; the run is made once more\n";
    for (auto at = outcome.err.find(words); at != std::string::npos; at = outcome.err.find(words, at + 1)) ++count;
    return count;
  };
  CHECK(retries({"--shard", "1/1"}, nullptr) == 3);
  CHECK(retries({"--shard", "1/1"}, "first") == 3);
  const auto logs = logs_of(files.out() / "runs");
  CHECK(retries({"--shard", "1/1"}, "first") == 0);
  CHECK(retries({}, "first") == 0);
  CHECK(logs_of(files.out() / "runs") == logs);
  CHECK(retries({}, "second") == 3);
  CHECK(retries({}, nullptr) == 0);
}

TEST_CASE("a run that a diagnosis ended is named and not made again") {
  const SmallExperiment files;
  REQUIRE(files.run().exit_code == 0);
  const fs::path report = files.runs()[0] / "report.json";
  json content = json_of(report);
  content["diagnosis"] = {"nothing moves"};
  files.write(fs::relative(report, files / ".").string(), content);
  const auto before = reports_of(files, "results");
  for (const std::vector<std::string>& options : {std::vector<std::string>{"--status"}, {"--shard", "1/1"}, {}}) {
    const Outcome outcome = files.run("results", options);
    CHECK(outcome.exit_code == 1);
    CHECK_THAT(outcome.err, Catch::Contains(": nothing moves (see " + (files.runs()[0] / "log.txt").string()));
  }
  CHECK(reports_of(files, "results") == before);
  CHECK_THAT(files.run("results", {"--status"}).out, Catch::EndsWith(shown(5, 0, 1, 0)));
}

TEST_CASE("the status counts what passed, runs, failed and is missing, and changes nothing") {
  const SmallExperiment files;
  const Outcome none = files.run("results", {"--status"});
  CHECK(none.exit_code == 1);
  CHECK_THAT(none.out, Catch::EndsWith(shown(0, 0, 0, 6)));
  CHECK_FALSE(fs::exists(files.out()));

  REQUIRE(files.run().exit_code == 0);
  const Outcome all = files.run("results", {"--status"});
  CHECK(all.exit_code == 0);
  CHECK(all.err.empty());
  CHECK_THAT(all.out, Catch::EndsWith(shown(6, 0, 0, 0)));

  const std::vector<fs::path> runs = files.runs();
  fs::remove_all(runs[0]);
  for (const std::size_t begun : {1U, 2U, 3U}) {
    fs::remove(runs[begun] / "report.json");
    fs::resize_file(runs[begun] / "log.txt", 0);
  }
  files.write(fs::relative(runs[3] / "log.txt", files / ".").string(), std::string("one\nthe last word\n"));
  const int lock = open((runs[1] / "lock").c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(flock(lock, LOCK_EX) == 0);
  const auto before = state_of(files.out());
  const Outcome some = files.run("results", {"--status"});
  CHECK(state_of(files.out()) == before);
  CHECK(some.exit_code == 1);
  CHECK_THAT(some.out, Catch::EndsWith(shown(2, 1, 2, 1)));
  CHECK_THAT(some.err,
             Catch::Contains("it was ended before its report (see " + (runs[2] / "log.txt").string() + ")\n") &&
                 Catch::Contains("the last word (see " + (runs[3] / "log.txt").string() + ")\n"));
  close(lock);

  REQUIRE(files.run().exit_code == 0);  // which makes them again
  CHECK(files.run("results", {"--status"}).exit_code == 0);
}

TEST_CASE("the state of runs is that of a folder or of none yet, and a file is refused") {
  const SmallExperiment files;
  const std::string file = files / "experiment.json";
  for (const std::string& runs : {file, file + "/runs", file + "/more/runs"}) {
    const Outcome outcome = files.run("results", {"--status", "--runs", runs});
    require_refusal(outcome, "--runs " + runs);
    CHECK_THAT(outcome.err, Catch::Contains(runs == file ? "found a file, expected a folder" : "expected a folder"));
  }
  const Outcome none = files.run("results", {"--status", "--runs", files / "none/yet"});
  CHECK(none.exit_code == 1);
  CHECK_THAT(none.out, Catch::EndsWith(shown(0, 0, 0, 6)));
  CHECK_FALSE(fs::exists(files / "none"));
}

TEST_CASE("a shard is a number and how many there are") {
  const SmallExperiment files;
  for (const char* shard :
       {"0/4", "5/4", "4", "/", "1/", "/2", "1/2/3", "-1/2", "1.5/2", "a/b", "1/0", "1/1000001", ""}) {
    const Outcome outcome = files.run("results", {"--shard", shard});
    INFO(shard);
    require_refusal(outcome, "t3vp: --shard");
    CHECK_THAT(outcome.err, Catch::Contains("expected I/N with I from 1 to N, such as 2/8"));
  }
  using Options = std::vector<std::string>;
  for (const Options& two :
       {Options{"--shard", "1/2", "--status"}, {"--shard", "1/2", "--slurm"}, {"--slurm", "--status"}})
    require_refusal(files.run("results", two), two[0]);
  CHECK_FALSE(fs::exists(files.out()));
}

}  // namespace t3vp::test::shards_test
