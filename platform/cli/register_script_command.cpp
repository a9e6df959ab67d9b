#include <fmt/format.h>

#include "cli/command_line.h"
#include "cli/register_machine.h"
#include "io/console.h"
#include "io/input_error.h"
#include "io/input_file.h"
#include "io/json_document.h"
#include "register_access/script/script_source.h"

namespace t3vp {
namespace {

namespace fs = std::filesystem;

struct Line {
  ScriptLine source;
  Statement statement;
};

/// Returns all statements: nothing of a script with a mistake runs.
std::vector<Line> read_script(const fs::path& file, const ScriptMachine& machine) {
  std::vector<Line> lines;
  const auto reject = [](const std::string& in, std::size_t line, std::size_t column, const ScriptError& error) {
    throw InputError(fmt::format("{}:{}:{}", in, line, column), shortened(error.found), error.expected);
  };
  std::vector<ScriptLine> expanded;
  try {
    expanded = ScriptSource().take_file(file);
  } catch (const ScriptLineError& error) {
    reject(error.file, error.line, error.column, error);
  }
  for (ScriptLine& line : expanded) try {
      const Statement statement = parse_statement(line.text, machine);
      if (statement.kind != Statement::Kind::nothing) lines.push_back({std::move(line), statement});
    } catch (const ScriptError& error) {
      reject(line.file, line.number, line.column(error.column), error);
    }
  return lines;
}

}  // namespace

int run_register_script(const RegisterScriptCommand& command) {
  read_input(command.file, "register script");  // a file that cannot be read is reported before anything is built
  RegisterMachine machine(command.machine);
  const std::vector<Line> lines = read_script(command.file, machine.what_there_is());
  for (const Line& line : lines) {
    const ScriptSession::Outcome outcome = machine.session().execute(line.statement);
    if (!outcome.shown.empty()) print(outcome.shown + "\n");
    if (outcome.failure.empty()) continue;
    machine.complete();
    print_error(fmt::format("{}:{}:{}: {}", line.source.file, line.source.number,
                            line.source.column(line.statement.column), outcome.failure));
    return failed;
  }
  machine.complete();
  print(fmt::format("{}: {} statements passed, {:.3f} ns\n", command.file.string(), lines.size(), machine.time_ns()));
  return success;
}

}  // namespace t3vp
