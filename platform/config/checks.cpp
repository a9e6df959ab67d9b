#include "config/checks.h"

#include <fmt/format.h>

namespace t3vp {
namespace {

using nlohmann::json;

constexpr struct {
  const char* name;
  bool RunChecks::*checker;
} checkers[] = {{"protocol", &RunChecks::protocol}, {"memory", &RunChecks::memory}, {"races", &RunChecks::races}};

/// "protocol, memory".
std::string names() {
  std::string all;
  for (const auto& one : checkers) all += (all.empty() ? "" : ", ") + std::string(one.name);
  return all;
}

void turn_on(RunChecks& checks, const Document& run, const std::string& pointer, const std::string& name,
             const char* others) {
  for (const auto& one : checkers)
    if (name == one.name) {
      checks.*one.checker = true;
      return;
    }
  run.reject(pointer, fmt::format("one of {}{}{}", others, names(), *others == 0 ? "" : ", or a list of names"));
}

/// Races are of data, which a timing-only run does not have.
void check_data(const RunChecks& checks, const Document& run, const std::string& pointer, bool functional) {
  if (checks.races && !functional) run.reject(pointer, "races with data functional alone");
}

}  // namespace

RunChecks checks_of(const Document& run, bool functional) {
  if (!run.content.contains("check")) return usual_checks;
  const json& given = run.content.at("check");
  RunChecks checks;
  if (given.is_array()) {
    for (std::size_t i = 0; i < given.size(); ++i) {
      const std::string pointer = fmt::format("/check/{}", i);
      turn_on(checks, run, pointer, given[i].get<std::string>(), "");
      check_data(checks, run, pointer, functional);
    }
  } else if (given == "all") {
    for (const auto& one : checkers) checks.*one.checker = true;
    checks.races = functional;
  } else if (given != "none") {
    turn_on(checks, run, "/check", given.get<std::string>(), "none, all, ");
    check_data(checks, run, "/check", functional);
  }
  return checks;
}

std::string checks_left_out(const nlohmann::json& run, bool functional) {
  return !functional && run.value("check", json()) == "all" ? "races, which need data functional" : "";
}

}  // namespace t3vp
