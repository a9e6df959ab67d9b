// docs/reference/cli.md: every command with its arguments, options and exit codes.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/commands.h"

namespace t3vp {

/// Markdown of the commands that describe_commands() has described.
std::string command_line_page(const CLI::App& app, const Commands& commands);

}  // namespace t3vp
