#include "cli/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <new>
#include <sstream>

#include "cli/file_kind.h"
#include "cli/option_checks.h"
#include "guests/guest_ends.h"
#include "guests/watched_process.h"
#include "io/console.h"
#include "io/described_keys.h"
#include "io/input_error.h"
#include "report/comparison.h"
#include "report/report.h"
#include "report/result_table.h"

namespace t3vp {
namespace {

namespace fs = std::filesystem;

void add_timeout(CLI::App* command, std::optional<double>& time, const std::string& text) {
  command->add_option("--timeout", time, text + "; default: none")->type_name("SECONDS")->check(seconds());
}

void add_settings(CLI::App* command, std::vector<std::string>& settings, const std::string& text) {
  command->add_option("--set", settings, text)->type_name("KEY=VALUE")->allow_extra_args(false);
}

void add_gdb(CLI::App* command, std::optional<std::uint16_t>& port) {
  command
      ->add_option("--gdb", port, "Port of this machine where a debugger is waited for, 0: any that is free, printed")
      ->type_name("PORT")
      ->transform(whole_number(0, 0xFFFF));
}

constexpr const char* in_process = "--in-process";

void add_in_process(CLI::App* command) {
  command->add_flag(in_process, "Simulate in this process, for debuggers and profilers, not in one that it watches");
}

/// Whether the command simulates, or opens libraries, in a process that another one watches.
bool is_watched(const CLI::App& app) {
  const std::vector<CLI::App*> given = app.get_subcommands();
  if (given.empty()) return false;
  const CLI::App* last = given.front();
  while (!last->get_subcommands().empty()) last = last->get_subcommands().front();
  const CLI::Option* const option = last->get_option_no_throw(in_process);
  return option != nullptr && option->count() == 0;
}

void add_run(CLI::App& app, RunCommand& command) {
  CLI::App* run = app.add_subcommand("run", "Simulate a run file");
  run->add_option("RUN.json", command.file, "What to simulate")->type_name("")->required();
  add_settings(run, command.settings, "Change a key of the configuration, such as workload.gemm.m=2048");
  run->add_option("--out", command.out, "Folder for report.json, trace.json and the arrays; default: out")
      ->type_name("FOLDER");
  run->add_flag("--trace", command.trace, "Write trace.json for ui.perfetto.dev");
  run->add_option("--register-trace", command.register_trace,
                  "File for every access to a register, a line for each; FILE.vcd: for wave viewers")
      ->type_name("FILE");
  run->add_flag("--dump-arrays", command.dump_arrays, "Write operands and outputs as .npy");
  run->add_option("--replicates", command.replicates,
                  "Runs in all: the others have jitter of other seeds, and the report tells the spread; default: 1")
      ->type_name("NUMBER")
      ->transform(whole_number(1, 1000));
  run->add_option("--jobs", command.jobs, "Replicates at a time; default: one per core")
      ->type_name("NUMBER")
      ->transform(whole_number(1, 1024));
  add_gdb(run, command.gdb);
  add_timeout(run, command.timeout_s,
              "Host time after which the run is given up, without what it stands still for a debugger; limits.wall_s");
  run->add_flag("--print-config", command.print_config, "Print the configuration as it would run, and stop");
  add_in_process(run);
}

void add_compare(CLI::App& app, CompareCommand& command) {
  CLI::App* compare =
      app.add_subcommand("compare", "Compare reports of one workload: a summary, and what differs most");
  compare->add_option("REPORT", command.reports, "Reports, the first of which the others are held against")
      ->type_name("")
      ->required()
      ->expected(2, 64);
  compare->add_flag("--all", command.all, "Show every metric that differs, by name");
  compare->add_flag("--any-workload", command.any_workload, "Compare reports of different workloads too");
}

void add_replay(CLI::App& app, ReplayCommand& command) {
  CLI::App* replay = app.add_subcommand("replay", "Replay a trace of accesses on one DRAM channel");
  replay->add_option("TRACE", command.trace, "Records of 16 bytes: u64 arrival in ns, u64 address, top bit for a write")
      ->type_name("")
      ->required();
  replay->add_option("--memory", command.memory, "Memory file of the channel")->type_name("FILE")->required();
  add_settings(replay, command.settings, "Change a key of the memory file");
  replay->add_option("--outstanding", command.outstanding, "Accesses under way at most; default: no limit")
      ->type_name("NUMBER")
      ->transform(whole_number(0, 0xFFFFFFFF));
  replay->add_flag("--updates", command.updates, "Writes are near-memory updates");
  replay->add_option("--out", command.out, "Folder for report.json; default: out")->type_name("FOLDER");
  replay->add_option("--commands", command.commands, "File for the log of DRAM commands, CSV")->type_name("FILE");
}

void add_experiment(CLI::App& app, ExperimentCommand& command) {
  CLI::App* experiment = app.add_subcommand("experiment", "Simulate a table of runs; goes on where it was interrupted");
  experiment->add_option("EXP.json", command.file, "Cases, methods, and what to make of the results")
      ->type_name("")
      ->required();
  add_settings(experiment, command.options.settings,
               "Change a key of every run, after the settings of its case and method");
  experiment
      ->add_option(
          "--replicates", command.options.replicates,
          "Runs of each configuration: the others have jitter of other seeds, and quantities get their spread; "
          "default: the file's, or 1")
      ->type_name("NUMBER")
      ->transform(whole_number(1, 1000));
  experiment->add_option("--out", command.out, "Folder for the results; default: out/NAME of the file")
      ->type_name("FOLDER");
  experiment
      ->add_option("--runs", command.runs,
                   "Folder for the runs, which experiments may share; default: runs in the results' folder")
      ->type_name("FOLDER");
  experiment
      ->add_option("--case", command.options.cases,
                   "Run the cases of this name alone, or those with an entry of this name; default: all")
      ->type_name("NAME")
      ->allow_extra_args(false);
  add_timeout(experiment, command.timeout_s, "Host time after which a run is given up");
  experiment->add_option("--jobs", command.jobs, "Runs at a time; default: one per core")
      ->type_name("NUMBER")
      ->transform(whole_number(1, 1024));
}

void add_riscv(CLI::App& app, RiscvCommand& command) {
  CLI::App* riscv = app.add_subcommand("riscv", "Run a bare-metal RISC-V program on one RV64IMAC core");
  riscv
      ->add_option("FILE.elf", command.file, "Executable that writes its result to its symbol tohost: 1 if all is well")
      ->type_name("")
      ->required();
  riscv->add_option("--memory", command.memories, "A memory, once for each; default: 0x80000000:64MiB")
      ->type_name("BASE:SIZE")
      ->allow_extra_args(false);
  riscv
      ->add_option("--max-instructions", command.most_instructions,
                   fmt::format("Instructions after which the run is given up; default: {}", command.most_instructions))
      ->type_name("NUMBER")
      ->transform(whole_number(1, ~std::uint64_t{0}));
  riscv->add_option("--trace-instructions", command.trace, "File for what is executed, a line for each instruction")
      ->type_name("FILE");
  add_gdb(riscv, command.gdb);
  add_timeout(riscv, command.timeout_s,
              "Host time after which the run is given up, with all that a debugger is waited for or has stopped it");
}

void add_machine(CLI::App* command, RegisterMachineOptions& machine) {
  command->add_option("--system", machine.system, "System file")->type_name("FILE")->required();
  command->add_option("--gpus", machine.gpus, "GPUs of the node; default: 1")
      ->type_name("NUMBER")
      ->transform(whole_number(1, 256));
  command
      ->add_option("--register-trace", machine.register_trace,
                   "File for every access to a register, a line for each; FILE.vcd: for wave viewers")
      ->type_name("FILE");
}

constexpr const char* formats_group = "Format";

void refuse_formats_beside_commands(const CLI::App& registers) {
  for (const CLI::App* const command : registers.get_subcommands())
    for (const CLI::Option* const format : registers.get_option_group(formats_group)->get_options())
      if (format->count() > 0)
        throw InputError("t3vp registers " + format->get_name(), command->get_name(),
                         "no command beside a format to print");
}

void add_registers(CLI::App& app, RegisterFormat& format, RegisterScriptCommand& script_command,
                   RegisterMachineOptions& shell_machine) {
  CLI::App* registers = app.add_subcommand("registers", "Print the registers of a GPU, for people or other tools");
  CLI::Option_group* formats = registers->add_option_group(formats_group);
  const auto add = [&](const char* option, RegisterFormat its, const char* text) {
    formats->add_flag_callback(
        option, [&format, its] { format = its; }, text);
  };
  add("--markdown", RegisterFormat::markdown, "The register reference; the default");
  add("--header", RegisterFormat::header, "The firmware's constants in one header of C and C++");
  add("--svd", RegisterFormat::svd, "CMSIS-SVD 1.3, for debuggers and generators");
  add("--ipxact", RegisterFormat::ipxact, "IP-XACT, IEEE 1685-2014");
  add("--json", RegisterFormat::json, "The descriptions in one document");
  formats->require_option(0, 1);
  registers->require_subcommand(0, 1);
  CLI::App* script = registers->add_subcommand("script", "Run a script of register accesses, without firmware");
  script->add_option("FILE", script_command.file, "Reads, writes, expects and waits, one statement a line")
      ->type_name("")
      ->required();
  add_machine(script, script_command.machine);
  add_in_process(script);
  CLI::App* shell = registers->add_subcommand("shell", "A prompt for statements of a script; help tells them");
  add_machine(shell, shell_machine);
  add_in_process(shell);
}

void add_validate(CLI::App& app, ValidateCommand& command) {
  CLI::App* validate = app.add_subcommand("validate", "Simulate what was measured on a real machine, and compare");
  validate->add_option("MACHINE", command.machine, "Whose times they are: h200")
      ->type_name("")
      ->required()
      ->check(CLI::IsMember({"h200"}));
  validate->add_option("--data", command.data, "Folder of gemm.csv, collectives.csv, or some of them")
      ->type_name("FOLDER")
      ->required();
  validate->add_option("--out", command.out, "Folder for MACHINE.csv and the runs; default: out/MACHINE")
      ->type_name("FOLDER");
  add_timeout(validate, command.timeout_s, "Host time after which a run is given up");
  validate->add_option("--jobs", command.jobs, "Runs at a time; default: one per core")
      ->type_name("NUMBER")
      ->transform(whole_number(1, 1024));
}

void add_keys(CLI::App& app, std::string& pattern) {
  CLI::App* keys = app.add_subcommand(
      "keys", "Print keys of run, experiment, system and memory files: unit, range, default and meaning");
  keys->add_option("PATTERN", pattern,
                   "Part of a key's path, such as dma, or a glob, such as *_GBps; default: all keys")
      ->type_name("");
}

/// CLI11 gives an option that ends with = the argument behind it.
void refuse_values_left_out(int argc, const char* const* argv) {
  for (const std::string& argument : std::vector<std::string>(argv + std::min(argc, 1), argv + argc))
    if (argument.rfind("--", 0) == 0 && argument.find('=') == argument.size() - 1)
      throw InputError(argument, "nothing", "a value behind it");
}

/// False when the user has asked for nothing but help or the version, which is printed.
bool parse(CLI::App& app, int argc, const char* const* argv) {
  try {
    app.parse(argc, argv);
    return true;
  } catch (const CLI::Success& request) {
    std::ostringstream text;
    app.exit(request, text, text);
    print(text.str());
    return false;
  }
}

/// Such as "t3vp registers script", as far as it has been given.
std::string command_given(const CLI::App& app) {
  std::string name = app.get_name();
  for (const CLI::App* last = &app; !last->get_subcommands().empty();) {
    last = last->get_subcommands().front();
    name += " " + last->get_name();
  }
  return name;
}

/// The first argument that the command does not take. CLI11 tells several backwards and not whose they are.
std::string unexpected(const CLI::App& app, int argc, const char* const* argv) {
  const std::vector<std::string> extras = app.remaining(true);
  const auto first = std::find_first_of(argv + 1, argv + argc, extras.begin(), extras.end());
  const std::string command = command_given(app);
  return fmt::format("{}: found {}, expected none but its own arguments (see {} --help)", command,
                     first == argv + argc ? "more arguments" : *first, command);
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::vector<std::string> names_of_commands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
  return names;
}

/// What is wrong with the first argument, where a command is expected; empty when it is one, an option or nothing.
std::string mistake_in_command(const CLI::App& app, int argc, const char* const* argv) {
  if (argc < 2 || argv[1][0] == '-' || argv[1][0] == '\0') return {};
  const std::vector<std::string> names = names_of_commands(app);
  if (std::find(names.begin(), names.end(), argv[1]) != names.end()) return {};
  return fmt::format("found {}, expected one of {}", argv[1], fmt::join(names, ", "));
}

}  // namespace

int check(const fs::path& file, const std::vector<std::string>& settings) {
  print(fmt::format("{}: a valid {}\n", file.string(), check_file(file, settings)));
  return success;
}

int print_registers(RegisterFormat format) {
  print(register_export(format));
  return success;
}

int print_keys(const std::string& pattern) {
  const std::vector<DescribedKey> keys = keys_like(pattern);
  if (keys.empty())
    throw InputError("t3vp keys", pattern, "a part of a key's path, such as dma, or a glob, such as *_GBps");
  print(key_table(keys));
  return success;
}

namespace {

int run_command(int argc, const char* const* argv) {
  report_stack_overflows();
  CLI::App app("Virtual platform of multi-GPU nodes that overlap compute with collectives in hardware", "t3vp");
  app.set_version_flag("--version", "t3vp " T3VP_VERSION);
  app.require_subcommand(1);
  RunCommand run_command;
  add_run(app, run_command);
  fs::path file_to_check;
  CLI::App* check_app = app.add_subcommand("check", "Check a configuration file");
  check_app->add_option("FILE", file_to_check, "Run, system, memory, models or experiment file, or a report")
      ->type_name("")
      ->required();
  std::vector<std::string> settings_to_check;
  add_settings(check_app, settings_to_check, "Check a run or memory file as it would be with this");
  add_in_process(check_app);
  RegisterFormat register_format = RegisterFormat::markdown;
  RegisterScriptCommand script_command;
  RegisterMachineOptions shell_machine;
  add_registers(app, register_format, script_command, shell_machine);
  CompareCommand compare_command;
  add_compare(app, compare_command);
  ReplayCommand replay_command;
  add_replay(app, replay_command);
  ExperimentCommand experiment_command;
  add_experiment(app, experiment_command);
  RiscvCommand riscv_command;
  add_riscv(app, riscv_command);
  ValidateCommand validate_command;
  add_validate(app, validate_command);
  std::string key_pattern;
  add_keys(app, key_pattern);

  refuse_empty_names(app);

  const std::string mistake = mistake_in_command(app, argc, argv);
  claim_standard_streams();
  end_tidily_on_signals();
  try {
    refuse_values_left_out(argc, argv);
    if (!parse(app, argc, argv)) return success;
    if (is_watched(app))
      if (const std::optional<int> exit_code = watch_from_outside()) return *exit_code;
    if (app.got_subcommand("run")) return run(run_command);
    if (app.got_subcommand("check")) return check(file_to_check, settings_to_check);
    if (const CLI::App* registers = app.get_subcommand("registers"); registers->parsed()) {
      refuse_formats_beside_commands(*registers);
      if (registers->got_subcommand("script")) return run_register_script(script_command);
      if (registers->got_subcommand("shell")) return run_register_shell(shell_machine);
      return print_registers(register_format);
    }
    if (app.got_subcommand("compare")) return compare(compare_command);
    if (app.got_subcommand("experiment")) return experiment(experiment_command);
    if (app.got_subcommand("riscv")) return run_on_riscv(riscv_command);
    if (app.got_subcommand("validate")) return validate(validate_command);
    if (app.got_subcommand("keys")) return print_keys(key_pattern);
    return replay(replay_command);
  } catch (const CLI::ExtrasError&) {
    print_error(unexpected(app, argc, argv));
    return bad_input;
  } catch (const CLI::ParseError& error) {
    print_error(fmt::format("t3vp: {} (see {} --help)", mistake.empty() ? first_line(error.what()) : mistake,
                            command_given(app)));
    return bad_input;
  } catch (const InputError& error) {
    print_error(error.what());
    return bad_input;
  } catch (const std::bad_alloc&) {
    print_error("t3vp: there is not enough memory");
    return failed;
  } catch (const std::exception& error) {
    print_error(std::string("t3vp: ") + error.what());
    return failed;
  }
}

}  // namespace

int run_command_line(int argc, const char* const* argv) {
  const int exit_code = run_command(argc, argv);
  tell_return();
  return exit_code;
}

}  // namespace t3vp
