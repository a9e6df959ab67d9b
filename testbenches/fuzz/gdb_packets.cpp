// What comes from a debugger's client: lines, each the content of a packet, or bytes as they are behind "!". Whenever
// the program would run, it stops again, for a reason that changes.
#include <cstdlib>
#include <string_view>

#include "debugger/debuggee_bench.h"

namespace {

using namespace t3vp::debug;
using Reason = Stop::Reason;

void require(bool holds) {
  if (!holds) std::abort();
}

void stop_again(GdbServer& server, unsigned stops) {
  constexpr Reason reasons[] = {Reason::stepped, Reason::software_breakpoint, Reason::hardware_breakpoint,
                                Reason::watch,   Reason::interrupted,         Reason::cannot_go_on};
  server.print("stops");
  server.stop({reasons[stops % std::size(reasons)], stops % 3, {StopPointKind::read_watch, stops, 8}});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  t3vp::test::FakeDebuggee debuggee;
  GdbServer server(debuggee);
  Fields lines(std::string_view(reinterpret_cast<const char*>(data), bytes));
  unsigned stops = 0;
  while (!lines.is_at_end()) {
    const std::string_view line = lines.until('\n');
    if (line.substr(0, 1) == "!")
      server.receive(line.substr(1));
    else
      server.receive(framed(line));
    if (server.state() == GdbServer::State::running) stop_again(server, stops++);
    require(t3vp::test::is_well_formed(server.take_output()));
  }
  return 0;
}
