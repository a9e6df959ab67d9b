#include "software/outside_run.h"

#include <algorithm>
#include <catch2/catch.hpp>

namespace t3vp::test {

std::string library(const std::string& name) { return SOFTWARE_DIR "/" + name + ".so"; }

OutsideRun::OutsideRun(const std::string& program, const nlohmann::json& more) {
  nlohmann::json run = {
      {"system", config("systems/small-4.json").string()}, {"gpus", 1}, {"data", "functional"}, {"program", program}};
  run.update(more);
  write("run.json", run);
}

Outcome OutsideRun::run(const std::vector<std::string>& more) const {
  std::vector<std::string> arguments{"run", file().string(), "--out", (*this / "out").string()};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_program(arguments);
}

nlohmann::ordered_json OutsideRun::report() const {
  return nlohmann::ordered_json::parse(text_of(*this / "out/report.json"));
}

void require_refused(const OutsideRun& run, const std::string& place, const std::string& found,
                     const std::string& expected) {
  const Outcome outcome = run.run();
  INFO(outcome.err << outcome.out);
  CHECK(outcome.exit_code == 2);
  CHECK(outcome.out.empty());
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
  CHECK_THAT(outcome.err, Catch::StartsWith(run.file().string() + ": " + place + ": found ") &&
                              Catch::Contains(found) && Catch::Contains(", expected " + expected));
  CHECK_FALSE(std::filesystem::exists(run / "out/report.json"));
}

}  // namespace t3vp::test
