#include "cli/commands.h"

#include <fmt/format.h>

#include "cli/cli_page.h"
#include "cli/copied_runs.h"
#include "cli/machine_options.h"
#include "cli/option_checks.h"
#include "io/input_error.h"

namespace t3vp {
namespace {

constexpr const char* text_of_bad_input =
    "The command line or an input file is wrong; one line gives the place and what was expected.";

/// The help of the command and the page have the same texts.
void add_exit_codes(CLI::App* command, Commands& commands, const ExitCodeTexts& texts) {
  commands.exit_codes[command] = texts;
  command->footer(
      fmt::format("Exit codes:\n  0  {}\n  1  {}\n  2  {}", texts.success, texts.failed, text_of_bad_input));
}

void add_timeout(CLI::App* command, std::optional<double>& time, const std::string& text) {
  command->add_option("--timeout", time, text + "; default: none")->type_name("SECONDS")->check(seconds());
}

void add_settings(CLI::App* command, std::vector<std::string>& settings, const std::string& text) {
  command->add_option("--set", settings, text)->type_name("KEY=VALUE")->allow_extra_args(false);
}

void add_gdb(CLI::App* command, std::optional<std::uint16_t>& port) {
  command
      ->add_option("--gdb", port,
                   "Wait for a debugger at this port of this machine; 0: any free port, which is printed")
      ->type_name("PORT")
      ->transform(whole_number(0, 0xFFFF));
}

constexpr const char* in_process = "--in-process";

void add_in_process(CLI::App* command) {
  command->add_flag(in_process,
                    "Simulate in this process, not in a watched child process; for debuggers and profilers of t3vp");
}

void add_run(CLI::App& app, Commands& commands) {
  RunCommand& command = commands.run;
  CLI::App* run = app.add_subcommand("run", "Simulate a run file");
  run->add_option("RUN.json", command.file, "What to simulate")->type_name("")->required();
  add_settings(run, command.settings, "Change a key of the configuration, such as workload.gemm.m=2048");
  run->add_option("--out", command.out, "Folder for report.json, trace.json and the arrays; default: out")
      ->type_name("FOLDER");
  run->add_flag("--trace", command.trace, "Write trace.json for ui.perfetto.dev");
  run->add_option("--trace-from", command.trace_from_us,
                  "Begin of the timeline, in simulated microseconds as trace.json counts them; default: 0")
      ->type_name("US")
      ->check(microseconds());
  run->add_option("--trace-to", command.trace_to_us,
                  "End of the timeline, in simulated microseconds; default: the end of the run")
      ->type_name("US")
      ->check(microseconds());
  run->add_option("--register-trace", command.register_trace,
                  "Write every register access to this file, one a line; FILE.vcd is a file for waveform viewers")
      ->type_name("FILE");
  run->add_flag("--dump-arrays", command.dump_arrays, "Write operands and outputs as .npy files");
  run->add_option(
         "--replicates", command.replicates,
         "Number of runs; all but the first have jitter, each with its own seed; the report has the spread; default: 1")
      ->type_name("NUMBER")
      ->transform(whole_number(1, 1000));
  run->add_option("--jobs", command.jobs, "Replicates or variants at a time; default: one per core")
      ->type_name("NUMBER")
      ->transform(whole_number(1, 1024));
  add_copy_options(*run, command);
  add_gdb(run, command.gdb);
  add_timeout(run, command.timeout_s,
              "Wall-clock time after which the run fails, as limits.wall_s; time under a debugger does not count");
  run->add_flag("--print-config", command.print_config,
                "Print the complete configuration and stop; nothing is simulated");
  add_in_process(run);
  add_exit_codes(run, commands,
                 {"The run passed, or --print-config printed its configuration.",
                  "The run failed with a diagnosis in report.json, reached a limit or crashed, or a replicate or "
                  "variant failed."});
}

void add_compare(CLI::App& app, Commands& commands) {
  CompareCommand& command = commands.compare;
  CLI::App* compare =
      app.add_subcommand("compare", "Compare reports of one workload: a summary, and what differs most");
  compare->add_option("REPORT", command.reports, "Reports; the others are compared with the first one")
      ->type_name("")
      ->required()
      ->expected(2, 64);
  compare->add_flag("--all", command.all, "Show every metric that differs, by name");
  compare->add_flag("--any-workload", command.any_workload, "Compare reports of different workloads too");
  add_exit_codes(
      compare, commands,
      {"All metrics are equal; host, warnings and replicates are not compared.", "At least one metric differs."});
}

void add_explain(CLI::App& app, Commands& commands) {
  CLI::App* explain =
      app.add_subcommand("explain", "Explain what bounded a run, or why two runs differ, by the critical path");
  explain->add_option("REPORT", commands.explain.reports, "A report, or two whose difference is explained")
      ->type_name("")
      ->required()
      ->expected(1, 2);
  add_exit_codes(explain, commands, {"The explanation was printed.", "The output could not be written."});
}

void add_replay(CLI::App& app, Commands& commands) {
  ReplayCommand& command = commands.replay;
  CLI::App* replay = app.add_subcommand("replay", "Replay a trace of accesses on one DRAM channel");
  replay->add_option("TRACE", command.trace, "Records of 16 bytes: u64 arrival in ns, u64 address, top bit for a write")
      ->type_name("")
      ->required();
  replay->add_option("--memory", command.memory, "Memory file of the channel")->type_name("FILE")->required();
  add_settings(replay, command.settings, "Change a key of the memory file");
  replay->add_option("--outstanding", command.outstanding, "Most accesses in flight; default: no limit")
      ->type_name("NUMBER")
      ->transform(whole_number(0, 0xFFFFFFFF));
  replay->add_flag("--updates", command.updates, "Writes are near-memory updates");
  replay->add_option("--model", command.model, "exact or loosely-timed; default: exact")
      ->type_name("MODEL")
      ->check(CLI::IsMember({"exact", "loosely-timed"}));
  replay->add_option("--out", command.out, "Folder for report.json; default: out")->type_name("FOLDER");
  replay->add_option("--commands", command.commands, "File for the log of DRAM commands, CSV")->type_name("FILE");
  add_exit_codes(replay, commands, {"The trace was replayed.", "The report or another output could not be written."});
}

void add_experiment(CLI::App& app, Commands& commands) {
  ExperimentCommand& command = commands.experiment;
  CLI::App* experiment =
      app.add_subcommand("experiment", "Simulate a table of runs; the same command resumes an interrupted one");
  experiment->add_option("EXP.json", command.file, "Cases, methods, and how results are compared and plotted")
      ->type_name("")
      ->required();
  add_settings(experiment, command.options.settings,
               "Change a key of every run, after the settings of its case and method");
  experiment
      ->add_option("--replicates", command.options.replicates,
                   "Runs of each configuration; all but the first have jitter; results have the spread; default: the "
                   "file's, or 1")
      ->type_name("NUMBER")
      ->transform(whole_number(1, 1000));
  experiment->add_option("--out", command.out, "Folder for the results; default: out/NAME of the file")
      ->type_name("FOLDER");
  experiment
      ->add_option("--runs", command.runs,
                   "Folder of the runs, which experiments may share; default: runs in the results' folder")
      ->type_name("FOLDER");
  experiment
      ->add_option("--case", command.options.cases,
                   "Run only cases with this name, or with an entry of this name; default: all")
      ->type_name("NAME")
      ->allow_extra_args(false);
  add_timeout(experiment, command.timeout_s, "Wall-clock time after which a run fails");
  experiment->add_option("--jobs", command.jobs, "Runs at a time; default: one per core; with --slurm: no limit")
      ->type_name("NUMBER")
      ->transform(whole_number(1, 1024));
  add_machine_options(*experiment, command);
  add_exit_codes(experiment, commands,
                 {"All runs passed, and all metrics and plots were made; with --slurm: the jobs were submitted.",
                  "A run failed, no report has a metric that the file asks for, or a plot could not be drawn; with "
                  "--status: a run has not passed yet."});
}

void add_riscv(CLI::App& app, Commands& commands) {
  RiscvCommand& command = commands.riscv;
  CLI::App* riscv = app.add_subcommand("riscv", "Run a bare-metal RISC-V program on one RV64IMAC core");
  riscv->add_option("FILE.elf", command.file, "Executable that writes its result to its symbol tohost; 1 means passed")
      ->type_name("")
      ->required();
  riscv->add_option("--memory", command.memories, "A memory of the machine; default: 0x80000000:64MiB")
      ->type_name("BASE:SIZE")
      ->allow_extra_args(false);
  riscv
      ->add_option("--max-instructions", command.most_instructions,
                   fmt::format("Instructions after which the run fails; default: {}", command.most_instructions))
      ->type_name("NUMBER")
      ->transform(whole_number(1, ~std::uint64_t{0}));
  riscv->add_option("--trace-instructions", command.trace, "Write every executed instruction to this file, one a line")
      ->type_name("FILE");
  add_gdb(riscv, command.gdb);
  add_timeout(riscv, command.timeout_s, "Wall-clock time after which the run fails; time under a debugger counts");
  add_exit_codes(riscv, commands,
                 {"The program wrote 1 to tohost.",
                  "The program wrote another result, or reached a limit or a state that it cannot leave."});
}

void add_machine(CLI::App* command, RegisterMachineOptions& machine) {
  command->add_option("--system", machine.system, "System file")->type_name("FILE")->required();
  command->add_option("--gpus", machine.gpus, "GPUs of the node; default: 1")
      ->type_name("NUMBER")
      ->transform(whole_number(1, 256));
  command->add_option("--kernels", machine.kernels, "Native library whose kernels packets may name; may be given again")
      ->type_name("LIBRARY")
      ->allow_extra_args(false);
  command
      ->add_option("--register-trace", machine.register_trace,
                   "Write every register access to this file, one a line; FILE.vcd is a file for waveform viewers")
      ->type_name("FILE");
}

constexpr const char* formats_group = "Format";

void add_registers(CLI::App& app, Commands& commands) {
  CLI::App* registers = app.add_subcommand("registers", "Print the registers of a GPU, as a page or for other tools");
  CLI::Option_group* formats = registers->add_option_group(formats_group);
  const auto add = [&](const char* option, RegisterFormat its, const char* text) {
    formats->add_flag_callback(
        option, [&commands, its] { commands.register_format = its; }, text);
  };
  add("--markdown", RegisterFormat::markdown, "The register reference; the default");
  add("--header", RegisterFormat::header, "The firmware's constants in one header of C and C++");
  add("--svd", RegisterFormat::svd, "CMSIS-SVD 1.3, for debuggers and generators");
  add("--ipxact", RegisterFormat::ipxact, "IP-XACT, IEEE 1685-2014");
  add("--json", RegisterFormat::json, "The descriptions in one document");
  formats->require_option(0, 1);
  registers->require_subcommand(0, 1);
  add_exit_codes(registers, commands, {"The registers were printed.", "The output could not be written."});
  CLI::App* script = registers->add_subcommand("script", "Run a script of register accesses, without firmware");
  script->add_option("FILE", commands.register_script.file, "Reads, writes, expects and waits, one statement a line")
      ->type_name("")
      ->required();
  add_machine(script, commands.register_script.machine);
  add_in_process(script);
  add_exit_codes(script, commands, {"All statements passed.", "A statement failed; its line and column are printed."});
  CLI::App* shell = registers->add_subcommand("shell", "Read statements of such a script at a prompt; help lists them");
  add_machine(shell, commands.register_shell);
  add_in_process(shell);
  add_exit_codes(shell, commands,
                 {"The input ended or quit was typed; at a terminal, failed statements do not count.",
                  "Input from a pipe or file: a statement failed."});
}

void add_validate(CLI::App& app, Commands& commands) {
  ValidateCommand& command = commands.validate;
  CLI::App* validate = app.add_subcommand("validate", "Simulate what was measured on a real machine, and compare");
  validate->add_option("MACHINE", command.machine, "The machine that was measured: h200")
      ->type_name("")
      ->required()
      ->check(CLI::IsMember({"h200"}));
  validate
      ->add_option("--data", command.data,
                   "Folder of files of measured values (docs/validation/h200.md), or some of them")
      ->type_name("FOLDER")
      ->required();
  validate->add_option("--out", command.out, "Folder for MACHINE.csv, its pictures and the runs; default: out/MACHINE")
      ->type_name("FOLDER");
  add_timeout(validate, command.timeout_s, "Wall-clock time after which a run fails");
  validate->add_option("--jobs", command.jobs, "Runs at a time; default: one per core")
      ->type_name("NUMBER")
      ->transform(whole_number(1, 1024));
  add_exit_codes(validate, commands,
                 {"95% or more of each file's rows have all their values, whatever the errors are.",
                  "Fewer have them, or gnuplot failed."});
}

void add_keys(CLI::App& app, Commands& commands) {
  CLI::App* keys = app.add_subcommand(
      "keys", "Print keys of run, experiment, system and memory files: unit, range, default and meaning");
  keys->add_option("PATTERN", commands.key_pattern,
                   "Part of a key's path, such as dma, or a glob, such as *_GBps; default: all keys")
      ->type_name("");
  add_exit_codes(keys, commands, {"At least one key matches the pattern.", "The output could not be written."});
}

void add_check(CLI::App& app, Commands& commands) {
  CLI::App* check = app.add_subcommand("check", "Check a configuration file");
  check->add_option("FILE", commands.file_to_check, "Run, system, memory, models or experiment file, or a report")
      ->type_name("")
      ->required();
  add_settings(check, commands.settings_to_check, "Change a key of the run or memory file before the check");
  add_in_process(check);
  add_exit_codes(check, commands, {"The file is valid.", "A library that the file names failed while it was closed."});
}

}  // namespace

bool is_watched(const CLI::App& app) {
  const std::vector<CLI::App*> given = app.get_subcommands();
  if (given.empty()) return false;
  const CLI::App* last = given.front();
  while (!last->get_subcommands().empty()) last = last->get_subcommands().front();
  const CLI::Option* const option = last->get_option_no_throw(in_process);
  return option != nullptr && option->count() == 0;
}

void refuse_formats_beside_commands(const CLI::App& registers) {
  for (const CLI::App* const command : registers.get_subcommands())
    for (const CLI::Option* const format : registers.get_option_group(formats_group)->get_options())
      if (format->count() > 0)
        throw InputError("t3vp registers " + format->get_name(), command->get_name(),
                         "no command beside a format to print");
}

std::string full_name(const CLI::App& command) {
  const CLI::App* const parent = command.get_parent();
  return parent == nullptr ? command.get_name() : full_name(*parent) + " " + command.get_name();
}

void describe_commands(CLI::App& app, Commands& commands) {
  app.set_version_flag("--version", "t3vp " T3VP_VERSION);
  app.add_flag_callback(
      "--markdown", [&app, &commands] { throw CLI::CallForVersion(command_line_page(app, commands), 0); },
      "Print the reference of the command line as a page, and exit");
  app.require_subcommand(1);
  add_run(app, commands);
  add_check(app, commands);
  add_registers(app, commands);
  add_compare(app, commands);
  add_explain(app, commands);
  add_replay(app, commands);
  add_experiment(app, commands);
  add_riscv(app, commands);
  add_validate(app, commands);
  add_keys(app, commands);
}

}  // namespace t3vp
