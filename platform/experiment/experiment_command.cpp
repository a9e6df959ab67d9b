#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <numeric>

#include "platform/command_line.h"
#include "platform/experiment/child_runs.h"
#include "platform/experiment/plots.h"
#include "platform/experiment/results.h"
#include "platform/experiment/summary.h"
#include "platform/progress_line.h"
#include "platform/report.h"

namespace t3vp {
namespace {

namespace fs = std::filesystem;

unsigned cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<unsigned>(CPU_COUNT(&set)) : 1u;
}

ChildRun prepare(const Experiment& experiment, const Plan& plan, const Results& results, std::size_t run) {
  const fs::path folder = results.folder_of(run);
  fs::create_directories(folder);
  for (const char* left_over : {"report.json", "trace.json"}) fs::remove(folder / left_over);
  write_text(folder / "run.json", plan.runs[run].run_file.dump(2) + "\n");
  ChildRun child{{"run", (folder / "run.json").string(), "--out", folder.string()}, folder / "log.txt"};
  if (experiment.trace) child.arguments.push_back("--trace");
  return child;
}

/// What is left to run, the longest first, so that no core waits for a long last run.
std::vector<std::size_t> missing_runs(const Plan& plan, Results& results) {
  std::vector<std::size_t> missing;
  for (std::size_t run = 0; run < plan.runs.size(); ++run)
    if (!results.take_finished(run)) missing.push_back(run);
  std::stable_sort(missing.begin(), missing.end(),
                   [&](std::size_t a, std::size_t b) { return plan.runs[a].weight > plan.runs[b].weight; });
  return missing;
}

/// Share of the work that is done and the time that is left at this pace.
class Progress {
 public:
  Progress(const Plan& plan, const std::vector<std::size_t>& missing) : runs_(missing.size()) {
    for (const std::size_t run : missing) total_ += plan.runs[run].weight;
  }

  void ended(double weight) {
    done_ += weight;
    ++ended_;
  }

  void show() {
    const double share = done_ / total_;
    line_.show(share, fmt::format("{} of {} runs{}", ended_, runs_, time_left(share)));
  }

 private:
  std::string time_left(double share) const {
    if (ended_ == 0) return "";
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin_;
    return fmt::format(", {:.0f} s left", elapsed.count() * (1 - share) / share);
  }

  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::size_t runs_, ended_ = 0;
  double total_ = 0, done_ = 0;
  ProgressLine line_;
};

void run_missing(const Experiment& experiment, const Plan& plan, Results& results, unsigned jobs, const fs::path& out) {
  const std::vector<std::size_t> missing = missing_runs(plan, results);
  std::vector<ChildRun> children;
  for (const std::size_t run : missing) children.push_back(prepare(experiment, plan, results, run));
  Progress progress(plan, missing);
  const auto ended = [&](std::size_t child, int exit_code) {
    results.take_ended(missing[child], exit_code);
    progress.ended(plan.runs[missing[child]].weight);
    write_text(out / "results.csv", results.results_csv());
  };
  run_children(children, jobs, ended, [&] { progress.show(); });
  write_text(out / "results.csv", results.results_csv());
}

void print_failures(const Results& results) {
  for (const auto& failure : results.failures())
    fmt::print(stderr, "{}: {} (see {})\n", failure.second.rows, failure.second.reason, failure.second.log.string());
}

}  // namespace

int experiment(const ExperimentCommand& command) {
  const Experiment experiment = load_experiment(command.file);
  const Plan plan = make_plan(experiment);
  const fs::path out = command.out.empty() ? fs::path("out") / command.file.stem() : command.out;
  prepare_folder(out);
  const fs::path runs = command.runs.empty() ? out / "runs" : command.runs;
  prepare_folder(runs, "--runs");
  Results results(experiment, plan, runs);
  run_missing(experiment, plan, results, command.jobs != 0 ? command.jobs : cores(), out);

  results.evaluate();
  write_text(out / "compare.csv", comparison_csv(results.comparisons()));
  const Pictures pictures = draw_plots(experiment, results, plan, out);
  const std::string text = summary(experiment, results, pictures.files);
  write_text(out / "result.md", text);
  fmt::print("{}\n{} runs for {} rows; results in {}\n", text, plan.runs.size(), plan.rows.size(), out.string());
  if (pictures.gnuplot_missing)
    fmt::print(stderr, "No pictures: they need gnuplot (sudo apt-get install gnuplot-nox), then run this again.\n");
  for (const auto& list : {results.errors(), pictures.failures})
    for (const std::string& line : list) fmt::print(stderr, "{}\n", line);
  print_failures(results);
  return results.failures().empty() && results.errors().empty() && pictures.failures.empty() ? success : failed;
}

}  // namespace t3vp
