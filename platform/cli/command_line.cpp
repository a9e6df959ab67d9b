#include "cli/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <new>
#include <sstream>
#include <thread>

#include "cli/commands.h"
#include "cli/file_kind.h"
#include "cli/option_checks.h"
#include "cli/run_over_processes.h"
#include "guests/guest_ends.h"
#include "guests/watched_process.h"
#include "io/console.h"
#include "io/described_keys.h"
#include "io/input_error.h"
#include "partition/parallel_start.h"
#include "report/comparison.h"
#include "report/report.h"
#include "report/result_table.h"

namespace t3vp {
namespace {

namespace fs = std::filesystem;

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

/// The command as far as it has been given.
std::string command_given(const CLI::App& app) {
  const CLI::App* last = &app;
  while (!last->get_subcommands().empty()) last = last->get_subcommands().front();
  return full_name(*last);
}

/// Returns the first argument that the command does not take. CLI11 lists several in reverse order and does not name
/// the command.
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

/// Returns the error of the first argument, where a command is expected; empty when it is a command, an option or
/// nothing.
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

/// All processes of mpirun find the same mistake. Rank 0 reports it and ends, and mpirun then ends the others. They
/// wait for that: a rank that ends earlier would end rank 0 before its report. A rank that is still there after the
/// wait has found a mistake of its own.
int refused(const std::string& line) {
  if (!is_first_process()) std::this_thread::sleep_for(std::chrono::seconds(5));
  print_error(line);
  return bad_input;
}

int run_command(int argc, const char* const* argv) {
  report_stack_overflows();
  CLI::App app("Virtual platform of multi-GPU nodes that overlap compute with collectives in hardware", "t3vp");
  Commands commands;
  describe_commands(app, commands);
  refuse_empty_names(app);

  const std::string mistake = mistake_in_command(app, argc, argv);
  claim_standard_streams();
  end_tidily_on_signals();
  try {
    refuse_values_left_out(argc, argv);
    if (!parse(app, argc, argv)) return success;
    if (app.got_subcommand("run") && is_started_by_mpirun()) return run_over_processes(commands.run);
    require_one_process(command_given(app));
    if (is_watched(app))
      if (const std::optional<int> exit_code = watch_from_outside(commands.run.snapshot_every_us.has_value()))
        return *exit_code;
    if (app.got_subcommand("run")) return run(commands.run);
    if (app.got_subcommand("check")) return check(commands.file_to_check, commands.settings_to_check);
    if (const CLI::App* registers = app.get_subcommand("registers"); registers->parsed()) {
      refuse_formats_beside_commands(*registers);
      if (registers->got_subcommand("script")) return run_register_script(commands.register_script);
      if (registers->got_subcommand("shell")) return run_register_shell(commands.register_shell);
      return print_registers(commands.register_format);
    }
    if (app.got_subcommand("compare")) return compare(commands.compare);
    if (app.got_subcommand("explain")) return explain(commands.explain);
    if (app.got_subcommand("experiment")) return experiment(commands.experiment);
    if (app.got_subcommand("riscv")) return run_on_riscv(commands.riscv);
    if (app.got_subcommand("validate")) return validate(commands.validate);
    if (app.got_subcommand("keys")) return print_keys(commands.key_pattern);
    return replay(commands.replay);
  } catch (const CLI::ExtrasError&) {
    return refused(unexpected(app, argc, argv));
  } catch (const CLI::ParseError& error) {
    return refused(fmt::format("t3vp: {} (see {} --help)", mistake.empty() ? first_line(error.what()) : mistake,
                               command_given(app)));
  } catch (const InputError& error) {
    return refused(error.what());
  } catch (const std::filesystem::filesystem_error& error) {
    print_error(fmt::format("t3vp: {}: {}", error.path1().string(), error.code().message()));
    return failed;
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
