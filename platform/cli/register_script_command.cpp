#include <fmt/format.h>

#include <sstream>

#include "cli/command_line.h"
#include "cli/register_machine.h"
#include "io/console.h"
#include "io/input_error.h"
#include "io/input_file.h"
#include "io/json_document.h"

namespace t3vp {
namespace {

namespace fs = std::filesystem;

struct Line {
  std::size_t number = 0;  ///< from 1
  Statement statement;
};

std::string text_of_script(const fs::path& file) { return read_input(file, "register script"); }

/// All statements, so that nothing runs of a script that has a mistake.
std::vector<Line> read_script(const fs::path& file, const ScriptMachine& machine) {
  std::vector<Line> lines;
  std::istringstream text(text_of_script(file));
  std::size_t number = 0;
  for (std::string line; std::getline(text, line);) {
    ++number;
    try {
      const Statement statement = parse_statement(number == 1 ? without_byte_order_mark(line) : line, machine);
      if (statement.kind != Statement::Kind::nothing) lines.push_back({number, statement});
    } catch (const ScriptError& error) {
      throw InputError(fmt::format("{}:{}:{}", file.string(), number, error.column), shortened(error.found),
                       error.expected);
    }
  }
  return lines;
}

}  // namespace

int run_register_script(const RegisterScriptCommand& command) {
  text_of_script(command.file);  // a file that cannot be read is reported before anything is built
  RegisterMachine machine(command.machine);
  const std::vector<Line> lines = read_script(command.file, machine.what_there_is());
  for (const Line& line : lines) {
    const ScriptSession::Outcome outcome = machine.session().execute(line.statement);
    if (!outcome.shown.empty()) print(outcome.shown + "\n");
    if (outcome.failure.empty()) continue;
    machine.complete();
    print_error(
        fmt::format("{}:{}:{}: {}", command.file.string(), line.number, line.statement.column, outcome.failure));
    return failed;
  }
  machine.complete();
  print(fmt::format("{}: {} statements passed, {:.3f} ns\n", command.file.string(), lines.size(), machine.time_ns()));
  return success;
}

}  // namespace t3vp
