// Options of `run` that copy its process on the way: --snapshot-every and --fork-at.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/command_line.h"
#include "config/configuration.h"

namespace t3vp {

void add_copy_options(CLI::App& run, RunCommand& command);

/// Throws InputError about options that exclude each other, and about a run whose process cannot be copied.
void refuse_copies(const RunCommand& command);

/// Throws InputError about the run's file when it and its copies need more memory than is available. `jobs`: variants
/// at a time.
void require_memory_for_copies(const RunCommand& command, const RunConfiguration& configuration, std::size_t jobs);

}  // namespace t3vp
