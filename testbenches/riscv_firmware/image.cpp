#include "riscv_firmware/image.h"

#include <catch2/catch.hpp>
#include <cstdlib>

namespace t3vp::test {

bool has_image() {
  if (std::filesystem::exists(T3VP_BINARY_DIR "/t3vp-firmware.elf")) return true;
  if (std::getenv("T3VP_ALL_TESTS") != nullptr) FAIL("no t3vp-firmware.elf");
  WARN("NOT RUN: no t3vp-firmware.elf (Debian: gcc-riscv64-unknown-elf and picolibc-riscv64-unknown-elf)");
  return false;
}

CoreRun::CoreRun(const nlohmann::json& more) {
  nlohmann::json run = {{"system", config("systems/small-4.json").string()}, {"data", "functional"}};
  run.update(more);
  write("run.json", run);
}

Outcome CoreRun::run(const std::vector<std::string>& more) const {
  std::vector<std::string> arguments{"run", (*this / "run.json").string(), "--out", (*this / "out").string()};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_program(arguments);
}

Outcome CoreRun::on_core(std::vector<std::string> more) const {
  more.insert(more.end(), {"--set", "firmware=riscv"});
  return run(more);
}

nlohmann::ordered_json CoreRun::report() const {
  return nlohmann::ordered_json::parse(text_of(*this / "out/report.json"));
}

}  // namespace t3vp::test
