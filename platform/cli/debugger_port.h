// The port of --gdb.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "debugger/connection.h"

namespace t3vp {

/// Where a debugger is waited for from now on, which a line on standard output says; null without a number. Throws
/// InputError when the port cannot be had.
std::unique_ptr<debug::TcpPort> debugger_port(std::optional<std::uint16_t> number);

}  // namespace t3vp
