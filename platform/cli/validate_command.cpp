#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/command_line.h"
#include "cli/runs_of_tables.h"
#include "experiment/correlation_plots.h"
#include "experiment/missing_runs.h"
#include "experiment/validation.h"
#include "io/console.h"
#include "io/output_file.h"
#include "report/results_folder.h"

namespace t3vp {
namespace {

namespace fs = std::filesystem;

/// Returns the name of the system that represents this machine.
std::string system_of(const std::string& machine) { return machine + "-4"; }

/// The table and the pictures, also those that only an earlier call with other files has made.
std::vector<fs::path> validation_files(const fs::path& out, const fs::path& table) {
  std::vector<fs::path> files{table};
  for (const std::string& name : correlation_names())
    for (const char* kind : {".gnuplot", ".svg", ".log"}) files.push_back(out / (name + kind));
  return files;
}

/// A row's values fail alike: each line once.
void print_once(const std::vector<std::string>& lines) {
  for (auto line = lines.begin(); line != lines.end(); ++line)
    if (std::find(lines.begin(), line, *line) == line) print_error(*line);
}

/// What was measured and is not in the table.
void print_left_out(const Measurements& measured) {
  for (const std::string& line : measured.left_out) print(line + "\n");
  if (!measured.set_aside.empty())
    print(fmt::format("not simulated, they only set parameters: {}\n", fmt::join(measured.set_aside, ", ")));
  if (!measured.unread.empty()) print(fmt::format("not simulated: {}\n", fmt::join(measured.unread, ", ")));
}

}  // namespace

int validate(const ValidateCommand& command) {
  end_tidily_on_signals("\nt3vp: interrupted; the same command goes on from there\n");
  const Measurements measured = read_measurements(command.data);
  const Experiment experiment = experiment_of(measured.values, system_of(command.machine), command.data);
  std::vector<std::string> faults;
  const Plan plan = make_plan(experiment, faults);
  const fs::path out = command.out.empty() ? fs::path("out") / command.machine : command.out;
  const fs::path runs = out / "runs", table = out / (command.machine + ".csv");
  Results results(experiment, plan, runs);
  Outputs outputs{validation_files(out, table), {}};
  add_runs(outputs, plan, results);
  require_apart(outputs);
  prepare_folder(out);
  prepare_folder(runs);
  for (const fs::path& file : validation_files(out, table)) remove_earlier(file);
  const RunOutline outline{command.jobs != 0 ? command.jobs : available_cores(), command.timeout_s, Shard{}};
  make_missing_runs(experiment, plan, outline, results, [] {});

  const std::vector<Prediction> predictions = predictions_of(measured.values, experiment, results);
  write_text(table, validation_csv(predictions));
  const Pictures pictures = draw_correlations(predictions, out);
  print(fmt::format("{}{} runs; {}\n", validation_table(predictions), plan.runs.size(), table.string()));
  for (const std::string& line : values_without_ratio(predictions)) print(line + "\n");
  print_left_out(measured);
  if (pictures.gnuplot_missing)
    print_error("No pictures: they need gnuplot (sudo apt-get install gnuplot-nox), then run this again.");
  const std::vector<std::string> incomplete = incomplete_files(predictions);
  for (const auto& list : {pictures.failures, incomplete}) faults.insert(faults.end(), list.begin(), list.end());
  print_failures(results);
  print_once(faults);
  return incomplete.empty() && pictures.failures.empty() ? success : failed;
}

}  // namespace t3vp
