// The port of --gdb.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "debugger/connection.h"

namespace t3vp {

/// Returns the port that waits for a debugger from now on, and prints a line about it on standard output. Returns null
/// without a number. Throws InputError when the port cannot be opened.
std::unique_ptr<debug::TcpPort> debugger_port(std::optional<std::uint16_t> number);

}  // namespace t3vp
