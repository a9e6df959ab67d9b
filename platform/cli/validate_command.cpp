#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command_line.h"
#include "cli/runs_of_tables.h"
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

Outputs outputs_of(const Plan& plan, const Results& results, const fs::path& table) {
  Outputs outputs{{table}, {}};
  add_runs(outputs, plan, results);
  return outputs;
}

}  // namespace

int validate(const ValidateCommand& command) {
  end_tidily_on_signals("\nt3vp: interrupted; the same command goes on from there\n");
  const Measurements measured = read_measurements(command.data);
  const Experiment experiment = experiment_of(measured.times, system_of(command.machine), command.data);
  const Plan plan = make_plan(experiment);
  const fs::path out = command.out.empty() ? fs::path("out") / command.machine : command.out;
  const fs::path runs = out / "runs", table = out / (command.machine + ".csv");
  Results results(experiment, plan, runs);
  require_apart(outputs_of(plan, results, table));
  prepare_folder(out);
  prepare_folder(runs);
  fs::remove(table);
  const RunOutline outline{command.jobs != 0 ? command.jobs : available_cores(), command.timeout_s, Shard{}};
  make_missing_runs(experiment, plan, outline, results, [] {});

  const std::vector<PredictedTime> times = predicted_times(measured.times, experiment, results);
  write_text(table, validation_csv(times));
  print(fmt::format("{}{} runs; {}\n", validation_table(times), plan.runs.size(), table.string()));
  if (!measured.unread.empty()) print(fmt::format("not simulated: {}\n", fmt::join(measured.unread, ", ")));
  print_failures(results);
  return results.failures().empty() ? success : failed;
}

}  // namespace t3vp
