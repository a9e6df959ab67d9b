// Options of `t3vp experiment` that divide its runs among machines.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/command_line.h"
#include "experiment/shard.h"

namespace t3vp {

void add_machine_options(CLI::App& experiment, ExperimentCommand& command);

/// Throws InputError when the command has more than one of these options.
void refuse_contradictions(const ExperimentCommand& command);

/// Returns the shard that a checked value of --shard names; all runs when it is empty.
Shard shard_of(const std::string& text);

}  // namespace t3vp
