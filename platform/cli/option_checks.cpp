#include "cli/option_checks.h"

#include <fmt/format.h>

#include <optional>
#include <string>

#include "register_access/names/register_names.h"

namespace t3vp {
namespace {

std::string mistake(const std::string& given, const std::string& expected) {
  return fmt::format("found {}, expected {}", given.empty() ? "nothing" : given, expected);
}

CLI::Validator number(const std::string& unit, double least, double most) {
  const auto read = [=](const std::string& given) {
    double value = 0;  // CLI::Range takes NaN
    const bool fits = CLI::detail::lexical_cast(given, value) && value >= least && value <= most;
    return fits ? std::string() : mistake(given, fmt::format("{} from {} to {}", unit, least, most));
  };
  return {read, ""};
}

}  // namespace

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  const auto read = [=](std::string& given) {
    const std::optional<std::uint64_t> number = number_of(given);
    if (!number || *number < least || *number > most)
      return mistake(given, fmt::format("a whole number from {} to {}", least, most));
    given = std::to_string(*number);
    return std::string();
  };
  return {read, ""};
}

CLI::Validator seconds() { return number("seconds", 1e-3, 1e9); }

CLI::Validator microseconds(double least) { return number("microseconds", least, 1e12); }

void refuse_empty_names(CLI::App& command) {
  for (CLI::Option* const option : command.get_options()) {
    const std::string type = option->get_type_name();
    if (type != "FILE" && type != "FOLDER" && !option->get_positional()) continue;
    option->check([=](const std::string& given) {
      return given.empty() ? mistake(given, type.empty() ? "a name" : type) : std::string();
    });
  }
  for (CLI::App* const below : command.get_subcommands(nullptr)) refuse_empty_names(*below);
}

}  // namespace t3vp
