// Firmware for RISC-V cores as tests need it: built where the cross compiler is found.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command_line/program.h"

namespace t3vp::test {

/// Whether there is firmware for the core. In tools/test, which installs the compiler, it is a failure if not.
bool has_image();

/// A run of small-4 with what `more` says.
class CoreRun : public Folder {
 public:
  explicit CoreRun(const nlohmann::json& more);

  Outcome run(const std::vector<std::string>& more = {}) const;
  Outcome on_core(std::vector<std::string> more = {}) const;
  /// Returns the report of the last run.
  nlohmann::ordered_json report() const;
};

}  // namespace t3vp::test
