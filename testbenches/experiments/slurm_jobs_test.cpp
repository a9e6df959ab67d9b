// What --slurm gives to sbatch, by an sbatch of the test's own, and what it refuses. slurm_test.py has a real Slurm.
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cstdlib>

#include "command_line/refusals.h"
#include "experiments/small_experiment.h"

namespace t3vp::test::slurm_jobs_test {

using nlohmann::json;
namespace fs = std::filesystem;

namespace {

using Options = std::vector<std::string>;

/// Its sbatch answers with a number each time it is called, and keeps its arguments.
class FakeSlurm : public SmallExperiment {
 public:
  explicit FakeSlurm(const std::string& body = "echo $(($(wc -l < \"$calls\") + 40))") {
    fs::create_directory(*this / "bin");
    const fs::path sbatch = *this / "bin/sbatch";
    write("bin/sbatch",
          "#!/bin/sh\ncalls=" + (*this / "calls").string() + "\necho \"$@\" >> \"$calls\"\n" + body + "\n");
    fs::permissions(sbatch, fs::perms::owner_all);
  }
  Outcome submit(const Options& more, const std::string& out_name = "results") const {
    Options arguments{"experiment", file().string(), "--out", out(out_name).string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const std::string path = (*this / "bin").string() + ":/usr/bin:/bin";
    return run_program(arguments, [&] { setenv("PATH", path.c_str(), 1); });
  }
  Outcome submit_shared(const Options& more) const {
    Options options{"--runs", (*this / "runs").string()};
    options.insert(options.end(), more.begin(), more.end());
    return submit(options);
  }
  std::string calls() const { return text_of(*this / "calls"); }
  std::string script(const std::string& name) const { return text_of(out() / "slurm" / name); }
};

}  // namespace

TEST_CASE("an array job makes the missing runs, and a job after it the results") {
  const FakeSlurm files;
  const std::string runs = (files / "runs").string();
  REQUIRE(files.run("results", {"--runs", runs, "--set", "seed=0", "--shard", "2/3"}).exit_code == 0);
  const Outcome outcome = files.submit_shared(
      {"--slurm=--partition=x --time=10", "--jobs", "3", "--timeout", "60", "--replicates", "1", "--set", "seed=0"});
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  CHECK_THAT(outcome.out, Catch::StartsWith("4 of 6 runs are missing. Array job 41 makes them, then job 42 writes the "
                                            "results to " +
                                            files.out().string() + ".\n") &&
                              Catch::Contains("scancel 41 42\n"));
  const std::string folder = (files.out() / "slurm").string();
  CHECK(files.calls() ==
        "--parsable " + folder + "/runs.sbatch\n--parsable --dependency=afterany:41 " + folder + "/results.sbatch\n");
  const std::string command = "exec " + fs::canonical(T3VP_BINARY_DIR "/t3vp").string() + " experiment " +
                              files.file().string() + " --runs " + runs + " --out " + files.out().string() +
                              " --set seed=0 --replicates 1 --timeout 60 --jobs \"$SLURM_CPUS_ON_NODE\"";
  const std::string array = files.script("runs.sbatch"), results = files.script("results.sbatch");
  CHECK_THAT(array, Catch::Contains("\n#SBATCH --partition=x --time=10\n") &&
                        Catch::Contains("\n#SBATCH --array=1,3-4,6%3\n") &&
                        Catch::EndsWith("\n" + command + " --shard \"$SLURM_ARRAY_TASK_ID\"/6\n"));
  CHECK_THAT(results, Catch::Contains("\n#SBATCH --partition=x --time=10\n") && !Catch::Contains("--array") &&
                          Catch::EndsWith("\n" + command + "\n"));
  CHECK_FALSE(fs::exists(files.out() / "results.csv"));
  const auto submission = [](const std::string& script) {
    const auto at = script.find("\nexport T3VP_SUBMISSION=");
    REQUIRE(at != std::string::npos);
    return script.substr(at, script.find('\n', at + 1) - at);
  };
  CHECK(submission(array) == submission(results));
}

TEST_CASE("when no run is missing, only the results are a job") {
  const FakeSlurm files;
  const std::string runs = (files / "runs").string();
  REQUIRE(files.run("results", {"--runs", runs}).exit_code == 0);
  const Outcome outcome = files.submit_shared({"--slurm"});
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.out, Catch::StartsWith("0 of 6 runs are missing. Job 41 writes the results to "));
  CHECK(files.calls() == "--parsable " + (files.out() / "slurm/results.sbatch").string() + "\n");
}

TEST_CASE("a thousand tasks make all runs of a larger table") {
  const FakeSlurm files;
  json content = json_of(files.file());
  for (const char* key : {"cases", "quantities", "reference", "targets", "plot"}) content.erase(key);
  content["methods"] = {"t3"};
  content["cross"] = json::array({{{"key", "seed"}, {"from", 1}, {"to", 1001}, {"steps", 1001}}});
  files.write("experiment.json", content);
  const Outcome outcome = files.submit_shared({"--slurm"});
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  CHECK_THAT(outcome.out, Catch::StartsWith("1001 of 1001 runs are missing."));
  CHECK_THAT(files.script("runs.sbatch"), Catch::Contains("\n#SBATCH --array=1-1000\n") &&
                                              Catch::EndsWith(" --shard \"$SLURM_ARRAY_TASK_ID\"/1000\n"));
}

TEST_CASE("what cannot be submitted is one line") {
  const FakeSlurm files;
  require_refusal(files.submit({"--slurm"}), "--slurm");
  CHECK_THAT(files.submit({"--slurm"}).err, Catch::Contains("found no --runs, expected --runs FOLDER"));
  for (const char* options : {"--array=1-3", "--time=3 --array 1", "-a3", "--time=3\n--mem=4"})
    require_refusal(files.submit_shared({std::string("--slurm=") + options}), "--slurm");
  CHECK_FALSE(fs::exists(files / "calls"));

  fs::remove(files / "bin/sbatch");
  Options arguments{"experiment", files.file().string(),    "--out", files.out().string(), "--slurm",
                    "--runs",     (files / "runs").string()};
  const std::string path = (files / "bin").string();
  const Outcome without = run_program(arguments, [&] { setenv("PATH", path.c_str(), 1); });
  require_refusal(without, "--slurm");
  CHECK_THAT(without.err, Catch::Contains("no sbatch on the PATH"));

  const FakeSlurm strict("echo 'sbatch: error: no such partition' >&2; echo 'sbatch: error: failed' >&2; exit 1");
  const Outcome refused = strict.submit_shared({"--slurm=--partition=x"});
  require_refusal(refused, "--slurm");
  CHECK_THAT(refused.err, Catch::Contains("found a job that sbatch refuses (no such partition), expected"));
  const FakeSlurm silent("true");
  require_refusal(silent.submit_shared({"--slurm"}), "--slurm");
  const FakeSlurm talkative("echo 'sbatch: warning: 5 of them' >&2; echo '77;cluster'");
  CHECK_THAT(talkative.submit_shared({"--slurm"}).out, Catch::Contains("scancel 77 77\n"));
}

}  // namespace t3vp::test::slurm_jobs_test
