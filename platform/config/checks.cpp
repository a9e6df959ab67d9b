#include "config/checks.h"

#include <fmt/format.h>

namespace t3vp {
namespace {

using nlohmann::json;

constexpr struct {
  const char* name;
  bool RunChecks::*checker;
} checkers[] = {{"protocol", &RunChecks::protocol}, {"memory", &RunChecks::memory}};

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
  run.reject(pointer, fmt::format("one of {}{}", others, names()));
}

}  // namespace

RunChecks checks_of(const Document& run) {
  if (!run.content.contains("check")) return usual_checks;
  const json& given = run.content.at("check");
  RunChecks checks;
  if (given.is_array()) {
    for (std::size_t i = 0; i < given.size(); ++i)
      turn_on(checks, run, fmt::format("/check/{}", i), given[i].get<std::string>(), "");
  } else if (given == "all") {
    for (const auto& one : checkers) checks.*one.checker = true;
  } else if (given != "none") {
    turn_on(checks, run, "/check", given.get<std::string>(), "none, all, ");
  }
  return checks;
}

}  // namespace t3vp
