// Scripts of register accesses: each line is refused with a place in it, or acts on GPUs that a reset brings back.
#include <algorithm>

#include "fuzz/scripted_node.h"

namespace {

using namespace t3vp;
using test::require;

/// What would only take long.
void limit(Statement& statement) {
  constexpr Picoseconds longest = 1'000'000;
  constexpr std::uint64_t most_bytes = 4096;
  statement.time = std::min(statement.time, longest);
  statement.memory.bytes = std::min(statement.memory.bytes, most_bytes);
  statement.other.bytes = std::min(statement.other.bytes, most_bytes);
}

void run_line(test::ScriptedNode& node, std::string_view line) {
  try {
    Statement statement = parse_statement(line, node.machine());
    limit(statement);
    node.execute(statement);
  } catch (const ScriptError& error) {
    require(error.column >= 1 && error.column <= line.size() + 1);
    require(!error.expected.empty());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  constexpr int most_lines = 64;
  test::ScriptedNode& node = test::ScriptedNode::get();
  std::string_view rest(reinterpret_cast<const char*>(data), bytes);
  for (int left = most_lines; left != 0 && !rest.empty(); --left) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    run_line(node, rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  node.reset();
  return 0;
}
