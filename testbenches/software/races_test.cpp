// `check` races on whole runs: mistakes by which data are right by luck.
#include <catch2/catch.hpp>

#include "software/outside_run.h"

namespace t3vp::test::races_test {

namespace {

struct Case {
  const char *program, *mistake;
  const char *later, *earlier;  ///< what the line says of both accesses
};

Outcome run_of(const Case& c, const nlohmann::json& check, const char* data = "functional") {
  const OutsideRun run(library("guests") + ":" + c.program, {{"gpus", std::string(c.program) == "handing" ? 3 : 2},
                                                             {"arguments", {{"mistake", c.mistake}}},
                                                             {"data", data},
                                                             {"check", check}});
  return run.run();
}

}  // namespace

TEST_CASE("a program whose accesses are ordered passes with check races") {
  for (const char* program : {"handing", "counting", "copying"}) {
    const Outcome outcome = run_of({program, "none", "", ""}, "races");
    INFO(program << ": " << outcome.err << outcome.out);
    CHECK(outcome.exit_code == 0);
  }
}

TEST_CASE("an access that nothing orders with an earlier one fails the run, with both places") {
  const auto c = GENERATE(
      Case{"handing", "credit", "load of 256 bytes", "the store by workgroup 0, wave 0 of kernel handing on GPU 2"},
      Case{"handing", "receiver", "load of 256 bytes", "the store by workgroup 0, wave 0 of kernel handing on GPU 2"},
      Case{"handing", "signal", "of 256 bytes", "by workgroup 0, wave 0 of kernel handing on GPU"},
      Case{"counting", "threshold", "load of 256 bytes", "the update by workgroup"},
      Case{"copying", "operand", "load of 8192 bytes", "the store by the program of GPU 0"},
      Case{"copying", "event", "load of", "of kernel gemm on GPU"},
      Case{"copying", "synchronization", "load of 256 bytes", "of kernel copy on GPU"});
  CAPTURE(c.program, c.mistake);
  const Outcome with = run_of(c, "races"), without = run_of(c, "none");
  INFO(with.err << with.out);
  CHECK(with.exit_code == 1);
  const std::string text = with.err + with.out;
  const auto line = text.find("check races: ");
  REQUIRE(line != std::string::npos);
  const std::string told = text.substr(line, text.find('\n', line) - line);
  CHECK_THAT(told, Catch::Contains("access that nothing orders with an earlier one"));
  CHECK_THAT(told, Catch::Contains(c.later));
  CHECK_THAT(told, Catch::Contains(c.earlier));
  CHECK_THAT(without.err + without.out, !Catch::Contains("check races"));
}

TEST_CASE("check races needs data: alone it is refused, and all leaves it out and says so") {
  const Case c{"copying", "none", "", ""};
  for (const nlohmann::json& check : {nlohmann::json("races"), nlohmann::json{"memory", "races"}}) {
    const Outcome outcome = run_of(c, check, "timing-only");
    CHECK(outcome.exit_code == 2);
    CHECK_THAT(outcome.err, Catch::Contains("races with data functional alone"));
  }
  const OutsideRun all(library("guests") + ":copying",
                       {{"arguments", {{"mistake", "none"}}}, {"data", "timing-only"}, {"check", "all"}});
  CHECK(all.run().exit_code == 0);
  CHECK(all.report().at("checks_left_out") == "races, which need data functional");
}

}  // namespace t3vp::test::races_test
