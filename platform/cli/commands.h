// The description of the command line: every command with its arguments, options and exit codes. Help texts and
// docs/reference/cli.md are made from it.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "cli/command_line.h"

namespace t3vp {

/// The meaning of a command's exit codes 0 and 1. Exit code 2 has the same meaning for all commands.
struct ExitCodeTexts {
  const char* success = "";
  const char* failed = "";
};

/// The values that a command line gives. They are referred to by the CLI::App that describe_commands() fills.
struct Commands {
  RunCommand run;
  std::filesystem::path file_to_check;
  std::vector<std::string> settings_to_check;
  RegisterFormat register_format = RegisterFormat::markdown;
  RegisterScriptCommand register_script;
  RegisterMachineOptions register_shell;
  CompareCommand compare;
  ExplainCommand explain;
  ReplayCommand replay;
  ExperimentCommand experiment;
  RiscvCommand riscv;
  ValidateCommand validate;
  std::string key_pattern;
  std::map<const CLI::App*, ExitCodeTexts> exit_codes;
};

void describe_commands(CLI::App& app, Commands& commands);

/// Whether the command simulates, or opens libraries, in a process that another one watches.
bool is_watched(const CLI::App& app);

/// Throws InputError when a command stands beside a format that `t3vp registers` would print.
void refuse_formats_beside_commands(const CLI::App& registers);

/// Such as "t3vp registers script".
std::string full_name(const CLI::App& command);

}  // namespace t3vp
