#include "cli/debugger_port.h"

#include <fmt/format.h>

#include <stdexcept>

#include "io/console.h"
#include "io/input_error.h"

namespace t3vp {
namespace {

std::unique_ptr<debug::TcpPort> open_port(std::uint16_t number) {
  try {
    return std::make_unique<debug::TcpPort>(number);
  } catch (const std::runtime_error& error) {
    throw InputError("--gdb", error.what(), "a port that is free");
  }
}

}  // namespace

std::unique_ptr<debug::TcpPort> debugger_port(std::optional<std::uint16_t> number) {
  if (!number) return nullptr;
  std::unique_ptr<debug::TcpPort> port = open_port(*number);
  print(fmt::format("waiting for a debugger at 127.0.0.1:{}\n", port->number()));
  return port;
}

}  // namespace t3vp
