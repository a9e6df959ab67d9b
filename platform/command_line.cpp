#include "platform/command_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <system_error>

#include "platform/comparison.h"
#include "platform/embedded_texts.h"
#include "platform/file_kind.h"
#include "platform/input_error.h"
#include "platform/report.h"
#include "platform/result_table.h"
#include "platform/stack_guard.h"

namespace t3vp {
namespace {

namespace fs = std::filesystem;

int print_error(int code, const std::string& text) {
  fmt::print(stderr, "{}\n", text);
  return code;
}

void add_run(CLI::App& app, RunCommand& command) {
  CLI::App* run = app.add_subcommand("run", "Simulate a run file");
  run->add_option("RUN.json", command.file, "What to simulate")->required();
  run->add_option("--set", command.settings, "path=value: change a key of the configuration")->allow_extra_args(false);
  run->add_option("--out", command.out, "Folder for report.json, trace.json and the arrays; default: out");
  run->add_flag("--trace", command.trace, "Write trace.json for ui.perfetto.dev");
  run->add_flag("--dump-arrays", command.dump_arrays, "Write operands and outputs as .npy");
  run->add_flag("--print-config", command.print_config, "Print the configuration as it would run, and stop");
}

void add_replay(CLI::App& app, ReplayCommand& command) {
  CLI::App* replay = app.add_subcommand("replay", "Replay a trace of accesses on one DRAM channel");
  replay->add_option("TRACE", command.trace, "Records of 16 bytes: u64 arrival in ns, u64 address, top bit for a write")
      ->required();
  replay->add_option("--memory", command.memory, "Memory file of the channel")->required();
  replay->add_option("--set", command.settings, "path=value: change a key of the memory file")->allow_extra_args(false);
  replay->add_option("--outstanding", command.outstanding, "Accesses under way at most; default: no limit");
  replay->add_flag("--updates", command.updates, "Writes are near-memory updates");
  replay->add_option("--out", command.out, "Folder for report.json; default: out");
  replay->add_option("--commands", command.commands, "File for the log of DRAM commands, CSV");
}

void add_experiment(CLI::App& app, ExperimentCommand& command) {
  CLI::App* experiment = app.add_subcommand("experiment", "Simulate a table of runs; goes on where it was interrupted");
  experiment->add_option("EXP.json", command.file, "Cases, methods, and what to make of the results")->required();
  experiment->add_option("--out", command.out, "Folder for the results; default: out/NAME of the file");
  experiment->add_option("--runs", command.runs,
                         "Folder for the runs, which experiments may share; default: runs in the results' folder");
  experiment->add_option("--jobs", command.jobs, "Runs at a time; default: one per core")->check(CLI::Range(1, 1024));
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

void prepare_folder(const fs::path& folder, const std::string& option) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!fs::is_directory(folder) || access(folder.c_str(), W_OK) != 0)
    throw InputError(option + " " + folder.string(), "something that cannot be written", "a folder");
}

int check(const fs::path& file) {
  fmt::print("{}: a valid {}\n", file.string(), check_file(file));
  return success;
}

int print_registers() {
  fmt::print("{}", embedded_text("registers.md"));
  return success;
}

int compare(const std::vector<fs::path>& files) {
  std::vector<nlohmann::json> reports;
  for (const fs::path& file : files) reports.push_back(read_report(file));
  bool same = true;
  for (const nlohmann::json& report : reports) same = same && differences(reports.front(), report).empty();
  if (reports.size() > 2)
    fmt::print("{}", overview_table(reports));
  else if (same)
    fmt::print("the same\n");
  else
    fmt::print("{}", difference_table(differences(reports[0], reports[1])));
  return same ? success : failed;
}

int run_command_line(int argc, const char* const* argv) {
  report_stack_overflows();
  CLI::App app("Virtual platform of multi-GPU nodes that overlap compute with collectives in hardware", "t3vp");
  app.set_version_flag("--version", "t3vp " T3VP_VERSION);
  app.require_subcommand(1);
  RunCommand run_command;
  add_run(app, run_command);
  fs::path file_to_check;
  CLI::App* check_app = app.add_subcommand("check", "Check a configuration file");
  check_app->add_option("FILE", file_to_check, "Run, system, memory, models or experiment file, or a report")
      ->required();
  app.add_subcommand("registers", "Print the register reference");
  std::vector<fs::path> reports;
  CLI::App* compare_app =
      app.add_subcommand("compare", "Compare reports: the figures that differ; of more than two, an overview");
  compare_app->add_option("REPORT", reports, "Reports")->required()->expected(2, 64);
  ReplayCommand replay_command;
  add_replay(app, replay_command);
  ExperimentCommand experiment_command;
  add_experiment(app, experiment_command);

  try {
    app.parse(argc, argv);
    if (app.got_subcommand("run")) return run(run_command);
    if (app.got_subcommand("check")) return check(file_to_check);
    if (app.got_subcommand("registers")) return print_registers();
    if (app.got_subcommand("compare")) return compare(reports);
    if (app.got_subcommand("experiment")) return experiment(experiment_command);
    return replay(replay_command);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    return print_error(bad_input, "t3vp: " + first_line(error.what()) + " (see t3vp --help)");
  } catch (const InputError& error) {
    return print_error(bad_input, error.what());
  } catch (const std::exception& error) {
    return print_error(failed, std::string("t3vp: ") + error.what());
  }
}

}  // namespace t3vp
