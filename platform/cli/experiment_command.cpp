#include <fmt/format.h>

#include <chrono>
#include <cstdlib>

#include "cli/command_line.h"
#include "cli/machine_options.h"
#include "cli/replicate_runs.h"
#include "cli/runs_of_tables.h"
#include "cli/shared_experiment.h"
#include "experiment/missing_runs.h"
#include "experiment/plots.h"
#include "experiment/results.h"
#include "experiment/slurm_jobs.h"
#include "experiment/summary.h"
#include "experiment/unknown_figures.h"
#include "io/console.h"
#include "io/output_file.h"
#include "report/results_folder.h"

namespace t3vp {
namespace {

namespace fs = std::filesystem;

/// Writes results.csv as runs end, though for at most a twentieth of the time when there are thousands.
void run_missing(const Experiment& experiment, const Plan& plan, const RunOutline& outline, Results& results,
                 const fs::path& csv) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point next = Clock::now();
  make_missing_runs(experiment, plan, outline, results, [&] {
    const Clock::time_point begin = Clock::now();
    if (begin < next) return;
    write_text(csv, results.results_csv());
    next = Clock::now() + 20 * (Clock::now() - begin);
  });
  write_text(csv, results.results_csv());
}

Outputs outputs_of(const Experiment& experiment, const Plan& plan, const Results& results, const fs::path& out) {
  Outputs outputs;
  for (const char* name : {"results.csv", "compare.csv", "result.md"}) outputs.files.push_back(out / name);
  for (const Plot& plot : experiment.plots)
    for (const char* kind : {".gnuplot", ".svg", ".log"}) outputs.files.push_back(out / (plot.file + kind));
  add_runs(outputs, plan, results);
  for (std::size_t run = 0; run < plan.runs.size(); ++run)
    add_replicates(outputs, experiment.replicates, results.folder_of(run));
  return outputs;
}

}  // namespace

int experiment(const ExperimentCommand& command) {
  end_tidily_on_signals("\nt3vp: interrupted; the same command goes on from there\n");
  refuse_contradictions(command);
  const Experiment experiment = load_experiment(command.file, command.options);
  const Plan plan = make_plan(experiment);
  const fs::path out = command.out.empty() ? fs::path("out") / command.file.stem() : command.out;
  const fs::path runs = command.runs.empty() ? out / "runs" : command.runs;
  Results results(experiment, plan, runs);
  if (command.status) return print_states(plan, runs, results);
  const char* const submission = std::getenv(submission_variable);
  const bool is_retried = submission != nullptr || !command.shard.empty();
  const RunOutline outline{command.jobs != 0 ? command.jobs : available_cores(), command.timeout_s,
                           shard_of(command.shard), is_retried ? 2U : 1U, submission != nullptr ? submission : ""};
  if (!command.shard.empty()) return make_shard(experiment, plan, outline, results, runs);
  if (!command.slurm.empty()) return submit_to_slurm(command, plan, results, out);
  require_apart(outputs_of(experiment, plan, results, out));
  prepare_folder(out);
  prepare_folder(runs, "--runs");
  for (const char* earlier : {"compare.csv", "result.md"}) remove_earlier(out / earlier);
  run_missing(experiment, plan, outline, results, out / "results.csv");

  results.evaluate();
  write_text(out / "compare.csv", comparison_csv(results.comparisons()));
  const Pictures pictures = draw_plots(experiment, results, plan, out);
  const std::string text = summary(experiment, results, pictures.files);
  write_text(out / "result.md", text);
  print(
      fmt::format("{}\n{} runs for {} rows; results in {}\n", text, plan.runs.size(), plan.rows.size(), out.string()));
  if (pictures.gnuplot_missing)
    print_error("No pictures: they need gnuplot (sudo apt-get install gnuplot-nox), then run this again.");
  std::vector<std::string> errors = unknown_figures(experiment, plan, results);
  for (const auto& list : {results.errors(), pictures.failures}) errors.insert(errors.end(), list.begin(), list.end());
  for (const std::string& line : errors) print_error(line);
  print_failures(results);
  return results.failures().empty() && errors.empty() ? success : failed;
}

}  // namespace t3vp
