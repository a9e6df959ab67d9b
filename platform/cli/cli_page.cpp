#include "cli/cli_page.h"

#include <fmt/format.h>

namespace t3vp {
namespace {

constexpr const char* introduction = R"(# Command line

This page lists every command of `t3vp`, its options and its exit codes. Use it to write a command line or a script that
reads exit codes. `t3vp COMMAND --help` prints the same for one command.

Required arguments have no default. An option with *Repeatable* can be given several times. Its values do not replace
each other. [keys.md](keys.md) lists the keys that `--set` changes. [errors.md](errors.md) explains the messages.

The target `cli_reference` writes this page from the program's own description.
)";

constexpr const char* introduction_of_codes = R"(## Exit codes

Exit code 2 means the same for every command. The command line or an input file is wrong, and one line gives the place
and what was expected.

Any command ends with 1 when it cannot finish on this machine. Examples are memory or disk space that is used up, and
standard output that cannot be written.

A signal such as Ctrl-C ends the program by that signal. A shell shows 128 and the signal's number, 130 for Ctrl-C.
`experiment` and `validate` resume when the same command is given again.

| Command | 0 | 1 |
| --- | --- | --- |
)";

bool is_option_group(const CLI::App& app) { return app.get_name().empty(); }

std::string name_of(const CLI::Option& option) {
  const std::string name = option.get_name(), type = option.get_type_name();
  if (type.empty() || option.get_positional()) return name;
  return type.front() == '[' ? name + type : name + " " + type;
}

std::string remarks_on(const CLI::Option& option) {
  constexpr int most_shown = 1000;  // CLI11 has a large number for "no limit"
  std::string remarks = option.get_required() ? " Required." : "";
  const int least = option.get_items_expected_min(), most = option.get_items_expected_max();
  if (most > 1 && most < most_shown)
    remarks += fmt::format(" {} to {} of them.", least, most);
  else if (most > 1)
    remarks += " *Repeatable.*";
  return remarks;
}

/// Options of groups stand with those of their command.
std::string rows_of(const CLI::App& command) {
  std::string rows;
  for (const bool is_positional : {true, false})
    for (const CLI::Option* const option : command.get_options())
      if (option->get_positional() == is_positional && option->get_name() != "--help")
        rows += fmt::format("| `{}` | {}.{} |\n", name_of(*option), option->get_description(), remarks_on(*option));
  for (const CLI::App* const below : command.get_subcommands(nullptr))
    if (is_option_group(*below)) rows += rows_of(*below);
  return rows;
}

std::string usage_of(const CLI::App& command) {
  std::string usage = full_name(command);
  for (const CLI::Option* const option : command.get_options())
    if (!option->get_positional() && option->get_required()) usage += " " + name_of(*option);
  usage += " [OPTIONS]";
  for (const CLI::Option* const option : command.get_options())
    if (option->get_positional())
      usage += " " + (option->get_required() ? option->get_name() : "[" + option->get_name() + "]");
  return usage;
}

std::string sections_below(const CLI::App& app) {
  std::string text;
  for (const CLI::App* const command : app.get_subcommands(nullptr)) {
    if (is_option_group(*command)) continue;
    text += fmt::format("\n## {}\n\n{}.\n\n```text\n{}\n```\n\n| Argument or option | Meaning |\n| --- | --- |\n{}",
                        full_name(*command), command->get_description(), usage_of(*command), rows_of(*command));
    text += sections_below(*command);
  }
  return text;
}

std::string rows_of_codes(const CLI::App& app, const Commands& commands) {
  std::string rows;
  for (const CLI::App* const command : app.get_subcommands(nullptr)) {
    if (is_option_group(*command)) continue;
    const ExitCodeTexts& texts = commands.exit_codes.at(command);
    rows += fmt::format("| `{}` | {} | {} |\n", full_name(*command), texts.success, texts.failed);
    rows += rows_of_codes(*command, commands);
  }
  return rows;
}

}  // namespace

std::string command_line_page(const CLI::App& app, const Commands& commands) {
  std::string text = introduction;
  text += fmt::format("\n## {}\n\n| Option | Meaning |\n| --- | --- |\n{}", app.get_name(), rows_of(app));
  text += sections_below(app) + "\n" + introduction_of_codes;
  text += rows_of_codes(app, commands);
  text.pop_back();  // what prints the page ends the last line
  return text;
}

}  // namespace t3vp
