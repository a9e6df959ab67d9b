// t3vp run --register-trace: a file of its own that changes nothing of the run.
#include <catch2/catch.hpp>

#include "command_line/program.h"

namespace t3vp::test::register_trace_test {

namespace {

nlohmann::json without_host(nlohmann::json report) {
  report.erase("host");
  return report;
}

}  // namespace

TEST_CASE("the trace of registers leaves the report as it is and has every access of the processors") {
  const ValidFiles files;
  const std::string file = files.run();
  REQUIRE(run_program({"run", file, "--out", files / "plain"}).exit_code == 0);
  const Outcome traced = run_program({"run", file, "--out", files / "out", "--register-trace", files / "trace.txt"});
  CHECK(traced.exit_code == 0);
  CHECK(traced.err.empty());
  const nlohmann::json report = json_of(files / "out/report.json");
  CHECK(without_host(report) == without_host(json_of(files / "plain/report.json")));
  const std::string text = text_of(files / "trace.txt");
  CHECK_THAT(text, Catch::StartsWith("50.000 ns gpu"));
  CHECK_THAT(text, Catch::Contains(" ns gpu2.processor reads 0x2: gpu2.system.gpu = 2\n"));
  CHECK_THAT(text, Catch::Contains("gpu1.dma.command.action = fill -> add, "));
  for (const char* const name : {"trace.vcd", "trace.VCD"}) {
    REQUIRE(run_program({"run", file, "--out", files / "out", "--register-trace", files / name}).exit_code == 0);
    CHECK_THAT(text_of(files / name), Catch::Contains("$enddefinitions $end\n#0\n$dumpvars\n"));
  }
}

TEST_CASE("a trace of registers that cannot be written is bad input and no input is overwritten") {
  const ValidFiles files;
  const std::string file = files.run(), before = text_of(file);
  const std::string none = files / "none/trace.vcd";
  const Outcome nowhere = run_program({"run", file, "--out", files / "out", "--register-trace", none});
  CHECK(nowhere.exit_code == 2);
  CHECK(nowhere.err == "--register-trace " + none + ": found " + none +
                           ": No such file or directory, expected a file that can be written or replaced\n");
  CHECK(run_program({"run", file, "--out", files / "out", "--register-trace", file}).exit_code == 2);
  CHECK(text_of(file) == before);
}

}  // namespace t3vp::test::register_trace_test
