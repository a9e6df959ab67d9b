#include "cli/shared_experiment.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <chrono>
#include <system_error>

#include "cli/replicate_runs.h"
#include "cli/runs_of_tables.h"
#include "experiment/run_states.h"
#include "experiment/slurm_jobs.h"
#include "io/console.h"
#include "io/input_error.h"
#include "report/results_folder.h"

namespace t3vp {
namespace {

namespace fs = std::filesystem;

Outputs outputs_of_runs(const Plan& plan, const Results& results, unsigned replicates) {
  Outputs outputs;
  add_runs(outputs, plan, results);
  for (std::size_t run = 0; run < plan.runs.size(); ++run) add_replicates(outputs, replicates, results.folder_of(run));
  return outputs;
}

/// The command that writes the results, with this program's own path.
std::vector<std::string> finishing_command(const ExperimentCommand& command, const fs::path& out) {
  std::vector<std::string> words{fs::read_symlink("/proc/self/exe").string(), "experiment", command.file.string()};
  const auto add = [&words](const char* option, const std::string& value) {
    words.insert(words.end(), {option, value});
  };
  add("--runs", command.runs.string());
  add("--out", out.string());
  for (const std::string& setting : command.options.settings) add("--set", setting);
  for (const std::string& name : command.options.cases) add("--case", name);
  if (command.options.replicates) add("--replicates", std::to_string(*command.options.replicates));
  if (command.timeout_s) add("--timeout", fmt::format("{}", *command.timeout_s));
  return words;
}

SlurmJobs jobs_of(const ExperimentCommand& command, const Plan& plan, const fs::path& out) {
  SlurmJobs jobs;
  jobs.name = "t3vp " + command.file.stem().string();
  if (command.slurm != ExperimentCommand::without_options) jobs.options = command.slurm;
  jobs.command = finishing_command(command, out);
  jobs.folder = out / "slurm";
  jobs.planned = plan.runs.size();
  jobs.at_a_time = command.jobs;
  jobs.submission = fmt::format("{:x}-{}", std::chrono::system_clock::now().time_since_epoch().count(), getpid());
  return jobs;
}

/// The folder may be missing, as long as no run has been made. Nothing else may be in its place.
void require_folder_or_none(const fs::path& runs) {
  std::error_code none;
  fs::path there = fs::absolute(runs);
  while (!fs::exists(there, none) && there.has_relative_path()) there = there.parent_path();
  if (fs::is_directory(there, none)) return;
  throw InputError("--runs " + runs.string(), there == fs::absolute(runs) ? "a file" : there.string() + ", a file,",
                   "a folder");
}

}  // namespace

int print_states(const Plan& plan, const fs::path& runs, Results& results) {
  require_folder_or_none(runs);
  const RunStates states = look_at_runs(plan, results);
  print(fmt::format("{}: {} of {} runs passed, {} running, {} failed, {} missing\n", runs.string(), states.passed,
                    plan.runs.size(), states.running, states.failed, states.missing));
  print_failures(results);
  return states.passed == plan.runs.size() ? success : failed;
}

int make_shard(const Experiment& experiment, const Plan& plan, const RunOutline& outline, Results& results,
               const fs::path& runs) {
  require_apart(outputs_of_runs(plan, results, experiment.replicates));
  prepare_folder(runs, "--runs");
  make_missing_runs(experiment, plan, outline, results, [] {});
  std::size_t of_shard = 0;
  for (std::size_t run = 0; run < plan.runs.size(); ++run)
    if (outline.shard.has(run)) ++of_shard;
  print(
      fmt::format("shard {}/{}: {} of {} runs, {} failed; after all shards, the command without --shard writes the "
                  "results\n",
                  outline.shard.number, outline.shard.count, of_shard, plan.runs.size(), results.failures().size()));
  print_failures(results);
  return results.failures().empty() ? success : failed;
}

int submit_to_slurm(const ExperimentCommand& command, const Plan& plan, Results& results, const fs::path& out) {
  if (command.runs.empty())
    throw InputError("--slurm", "no --runs", "--runs FOLDER, which all machines of the cluster share");
  SlurmJobs jobs = jobs_of(command, plan, out);
  Outputs outputs = outputs_of_runs(plan, results, 1);
  for (const fs::path& file : files_of(jobs)) outputs.files.push_back(file);
  require_apart(outputs);
  prepare_folder(out);
  prepare_folder(command.runs, "--runs");
  prepare_folder(jobs.folder);
  for (std::size_t run = 0; run < plan.runs.size(); ++run)
    if (!results.take_finished(run)) jobs.runs.push_back(run);
  const std::vector<std::string> numbers = submit(jobs);
  const std::string makers = numbers.size() > 1 ? fmt::format("Array job {} makes them, then job", numbers[0]) : "Job";
  print(
      fmt::format("{} of {} runs are missing. {} {} writes the results to {}.\nScripts and logs: {}\n"
                  "Progress: the same command with --status in place of --slurm\nTo cancel: scancel {}\n",
                  jobs.runs.size(), plan.runs.size(), makers, numbers.back(), out.string(), jobs.folder.string(),
                  fmt::join(numbers, " ")));
  return success;
}

}  // namespace t3vp
