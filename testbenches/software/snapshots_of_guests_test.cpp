// Programs that crash late, or begin a thread, in runs with snapshots.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>

#include "software/outside_run.h"

namespace t3vp::test::snapshots_of_guests_test {

namespace fs = std::filesystem;
using Catch::Contains;

namespace {

Outcome outcome_of(const OutsideRun& run, const char* act, const std::vector<std::string>& more) {
  std::vector<std::string> arguments{"run", run.file().string(), "--out", (run / "out").string()};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_program(arguments, [act] { setenv("T3VP_TEST_ACT", act, 1); });
}

const std::vector<std::string> snapshots{"--snapshot-every", "20"};

}  // namespace

TEST_CASE("a crash of a program after snapshots is seen from the older one, and ends the run as without") {
  const OutsideRun run(library("violent") + ":idle", {{"gpus", 2}});
  const Outcome plain = outcome_of(run, "program: crash late", {});
  CHECK(plain.exit_code == 1);
  CHECK_THAT(plain.err, Contains("has accessed memory of the host that is not there"));
  const Outcome outcome = outcome_of(run, "program: crash late", snapshots);
  INFO(outcome.err);
  CHECK(outcome.exit_code == 1);
  CHECK_THAT(outcome.err, Catch::StartsWith("t3vp: the run has failed at 5") &&
                              Contains("It goes on from its snapshot at 20 us") && Catch::EndsWith("\n" + plain.err));
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 2);
  CHECK(fs::exists(run / "out/trace.json"));
  CHECK_FALSE(fs::exists(run / "out/report.json"));
  std::vector<std::string> lines;
  const std::string text = text_of(run / "out/snapshot-registers.txt");
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
    lines.push_back(text.substr(at, text.find('\n', at) - at));
  REQUIRE(lines.size() >= 2 * 29);
  CHECK(std::stod(lines.front()) >= 20'000);
  CHECK(std::stod(lines.back()) >= 49'000);
}

TEST_CASE("a program that has begun a thread is refused at a snapshot, and passes without") {
  const OutsideRun run(library("violent") + ":idle", {{"gpus", 2}});
  CHECK(outcome_of(run, "program: begin a thread", {}).exit_code == 0);
  const Outcome outcome = outcome_of(run, "program: begin a thread", snapshots);
  INFO(outcome.err);
  CHECK(outcome.exit_code == 2);
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
  CHECK_THAT(outcome.err, Catch::StartsWith("--snapshot-every: found 3 threads, begun by a program or library, ") &&
                              Contains("expected one thread"));
  CHECK_FALSE(fs::exists(run / "out/report.json"));
}

}  // namespace t3vp::test::snapshots_of_guests_test
