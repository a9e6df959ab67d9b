// Checks of option values. Their messages have the form of all input errors: the value found and the value expected.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>

namespace t3vp {

/// To be given to transform(): decimal, or hexadecimal behind 0x. CLI11's own conversion lets negative numbers become
/// large ones, stops at the largest, and takes a leading 0 for octal.
CLI::Validator whole_number(std::uint64_t least, std::uint64_t most);

/// Host time, from a millisecond on.
CLI::Validator seconds();

/// Simulated time.
CLI::Validator microseconds(double least = 0);

/// A file or folder has a name, and not the empty one of a variable that a shell does not know: arguments of the
/// command and of all below it.
void refuse_empty_names(CLI::App& command);

}  // namespace t3vp
