// Whether t3vp refuses a file as it should.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "command_line/program.h"

namespace t3vp::test {

/// One line that begins with the place and says what was found and what was expected; exit code 2.
inline void require_refusal(const Outcome& outcome, const std::string& where) {
  INFO("stderr: " << outcome.err << "stdout: " << outcome.out);
  CHECK(outcome.exit_code == 2);
  CHECK(outcome.out.empty());
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
  CHECK(outcome.err.rfind(where + ": found ", 0) == 0);
  CHECK(outcome.err.find(", expected ") != std::string::npos);
}

inline Outcome run_file(const std::filesystem::path& file, const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments{"run", file.string(), "--out", (file.parent_path() / "results").string()};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_program(arguments);
}

}  // namespace t3vp::test
