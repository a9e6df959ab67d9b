#include <fmt/format.h>
#include <unistd.h>

#include <iostream>

#include "cli/command_line.h"
#include "cli/line_editor.h"
#include "cli/register_machine.h"
#include "io/console.h"
#include "io/input_error.h"
#include "io/json_document.h"
#include "register_access/script/script_source.h"
#include "register_access/script/suggestions.h"

namespace t3vp {
namespace {

constexpr const char* help =
    "  gpu0.dma.rows = 64                            write a register\n"
    "  gpu0.dma.command = {action = add, force = 0}  and its fields\n"
    "  gpu0.dma.status                               read, and show\n"
    "  gpu0.dma                                      read all of a block\n"
    "  expect gpu0.dma.status.code == ok             read, and compare: ==, !=, <, <=, >, >=\n"
    "  wait gpu0.dma.status.busy == 0 timeout 10 us  read until it is so\n"
    "  refused gpu0.dma.used = 5                     the access, also a read, has to be refused\n"
    "  delay 500 ns                                  let time pass\n"
    "  fill gpu0.memory[0x1000, 64] u16 = 3 step 1   address, bytes, elements\n"
    "  gpu0.memory[0x1000, 64] u16                   show; expect and == compare\n"
    "  let base = 0x1000 + 64                        a variable: $base, $(base + 4 * i)\n"
    "  for i = 0 to 3, up to a line end              a loop\n"
    "  include common.regs                           the lines of a file\n"
    "  help, quit; Tab completes, Ctrl-C drops the line, Ctrl-D ends\n";

/// An empty text: nothing stands in the way.
std::string failure_of(const ScriptSession::Outcome& outcome) {
  if (!outcome.shown.empty()) print(outcome.shown + "\n");
  return outcome.failure;
}

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t"), end = text.find_last_not_of(" \t");
  return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

constexpr const char* prompt_file = "prompt";

std::string place_of(const ScriptLine& line, std::size_t column) {
  return line.file == prompt_file ? fmt::format("column {}", line.column(column))
                                  : fmt::format("{}:{}:{}", line.file, line.number, line.column(column));
}

void print_mistake(const std::string& place, const ScriptError& error) {
  print_error(fmt::format("{}: found {}, expected {}", place, shortened(error.found), error.expected));
}

/// Executes what a line at the prompt makes, up to its first mistake or failure.
void execute_line(RegisterMachine& machine, const std::vector<ScriptLine>& lines) {
  for (const ScriptLine& line : lines) try {
      const std::string failure =
          failure_of(machine.session().execute(parse_statement(line.text, machine.what_there_is())));
      if (failure.empty()) continue;
      return print_error(failure);
    } catch (const ScriptError& error) {
      return print_mistake(place_of(line, error.column), error);
    }
}

/// Mistakes and failures are reported, and the next line is read.
void serve_terminal(RegisterMachine& machine) {
  LineEditor editor([&](std::string_view line) {
    Suggestions found = suggestions_for(line, machine.what_there_is());
    return LineCompletion{found.begun, std::move(found.texts)};
  });
  ScriptSource source;
  while (const auto line =
             editor.next(source.is_in_loop() ? "... > " : fmt::format("{:.3f} ns> ", machine.time_ns()))) {
    const std::string command = trimmed(*line);
    if (command == "quit" || command == "exit") return;
    if (command == "help" || command == "?") {
      print(help);
      continue;
    }
    try {
      execute_line(machine, source.take(prompt_file, 1, *line));
    } catch (const ScriptLineError& error) {
      source.reset();
      print_mistake(error.file == prompt_file ? fmt::format("column {}", error.column)
                                              : fmt::format("{}:{}:{}", error.file, error.line, error.column),
                    error);
    }
  }
  print("\n");
}

/// False at the end of the input.
bool read_line(std::string& line) {
  constexpr std::size_t most = std::size_t{1} << 20;
  line.clear();
  char next = 0;
  while (std::cin.get(next) && next != '\n') {
    line += next;
    if (line.size() > most) throw InputError("standard input", "a line without end", "statements, one a line");
  }
  return std::cin || !line.empty();
}

[[noreturn]] void reject(const std::string& file, std::size_t line, std::size_t column, const ScriptError& error) {
  throw InputError(fmt::format("{}:{}:{}", file, line, column), shortened(error.found), error.expected);
}

/// A failure ends the script.
bool execute(RegisterMachine& machine, const ScriptLine& line) {
  Statement statement;
  try {
    statement = parse_statement(line.text, machine.what_there_is());
  } catch (const ScriptError& error) {
    reject(line.file, line.number, line.column(error.column), error);
  }
  const std::string failure = failure_of(machine.session().execute(statement));
  if (failure.empty()) return true;
  print_error(fmt::format("{}:{}:{}: {}", line.file, line.number, line.column(statement.column), failure));
  return false;
}

/// A script that is read as it comes: the first mistake or failure ends it.
int serve_script(RegisterMachine& machine) {
  ScriptSource source;
  std::string text;
  try {
    for (std::size_t number = 1; read_line(text); ++number) {
      if (const std::string command = trimmed(text); command == "quit" || command == "exit") return success;
      for (const ScriptLine& line : source.take("standard input", number, text))
        if (!execute(machine, line)) return failed;
    }
    source.require_complete();
  } catch (const ScriptLineError& error) {
    reject(error.file, error.line, error.column, error);
  }
  return success;
}

}  // namespace

int run_register_shell(const RegisterMachineOptions& options) {
  RegisterMachine machine(options);
  int code = success;
  if (isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0)
    serve_terminal(machine);
  else
    code = serve_script(machine);
  machine.complete();
  return code;
}

}  // namespace t3vp
