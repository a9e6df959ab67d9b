// Libraries in C++: exceptions, and what is destroyed when a thread ends.
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "software/outside_run.h"

namespace t3vp::test::throwing_test {

namespace {

Outcome outcome_of(const std::string& act, const nlohmann::json& limits = {{"firmware_s", 0.3}}) {
  const OutsideRun run(library("throwing"), {{"gpus", 2}, {"limits", limits}});
  Outcome outcome = run_program({"run", run.file().string(), "--out", (run / "out").string()}, [&act] {
    setenv("T3VP_TEST_ACT", act.c_str(), 1);
    alarm(60);
  });
  outcome.err += run.file().string();  // for those that name it
  return outcome;
}

/// Its lines but for those of the C library.
void require_last_line(const Outcome& outcome, const std::string& begin, const std::string& end) {
  INFO(outcome.err << outcome.out);
  CHECK(outcome.exit_code == 1);
  CHECK_THAT(outcome.err, Catch::Contains(begin) && Catch::Contains(end + "\n"));
}

}  // namespace

TEST_CASE("each program and kernel handles its own exceptions") { CHECK(outcome_of("nothing").exit_code == 0); }

TEST_CASE("what a program or kernel throws and nobody catches is one line that names it") {
  const std::string a_kernel = "t3vp: kernel throwing of GPU ", a_program = "t3vp: the firmware of GPU ";
  const auto [place, who] = GENERATE_COPY(table<std::string, std::string>({{"program", a_program},
                                                                           {"handler", a_program},
                                                                           {"contents", a_program},
                                                                           {"check", a_kernel},
                                                                           {"plan", a_kernel},
                                                                           {"compute", a_kernel}}));
  require_last_line(outcome_of("throw in " + place), who, " has thrown what nobody catches: a surprise");
  require_last_line(outcome_of("throw a number in " + place), who,
                    " has thrown what nobody catches: UNKNOWN EXCEPTION");
}

TEST_CASE("what a kernel's program throws and nobody catches is one line that names it") {
  require_last_line(outcome_of("throw in run"), "t3vp: kernel throwing of GPU ",
                    " (workgroup 0, wave 0) has ended the thread that it runs on or thrown what nobody catches");
}

TEST_CASE("a library whose constructor throws is refused in one line") {
  const Outcome outcome = outcome_of("throw in constructor");
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.err,
             Catch::Contains("/program: found ") && Catch::Contains("thrown what nobody catches while it"));
}

TEST_CASE("thread_local variables of a library are destroyed under guard when it is closed") {
  const auto [act, told] = GENERATE(table<std::string, std::string>(
      {{"thread_local: _exit", "which has ended the process by _exit() or exec() while it was closed"},
       {"thread_local: abort", "which has called abort() while it was closed"},
       {"thread_local: loop", "which has computed for 0.3 s (limits.firmware_s) while it was closed"},
       {"thread_local: crash", "which has accessed memory of the host that is not there while it was closed"},
       {"throw in thread_local", "thrown what nobody catches while it was closed"}}));
  require_last_line(outcome_of(act), ": /program: found ", told + ", expected a native library that can be closed");
}

TEST_CASE("a kernel that frees what it has been lent ends its run with a line that names it") {
  for (const char* act : {"free the wave", "free the arguments", "free the local memory", "resize the wave"})
    require_last_line(outcome_of(act), "t3vp: kernel throwing of GPU ", " (workgroup 0, wave 0) has called abort()");
  require_last_line(outcome_of("free in check"), "t3vp: kernel throwing of GPU ", " has called abort()");
}

TEST_CASE("an interrupt that is left by a jump fails the run") {
  const Outcome outcome = outcome_of("jump out of a handler");
  INFO(outcome.err << outcome.out);
  CHECK(outcome.exit_code == 1);
  CHECK_THAT(outcome.out, Catch::Contains("GPU 0 firmware has left what takes an interrupt by a jump"));
}

TEST_CASE("a handler that goes on for ever is named when its run has reached its limit") {
  const Outcome outcome = outcome_of("stay in a handler", {{"wall_s", 2}});
  INFO(outcome.err << outcome.out);
  CHECK(outcome.exit_code == 1);
  CHECK_THAT(outcome.err, Catch::StartsWith("t3vp: limits.wall_s: the run is not over after 2 s, the last to compute "
                                            "was the firmware of GPU ") &&
                              Catch::Contains(" firmware has not returned from an interrupt that it takes since "));
}

}  // namespace t3vp::test::throwing_test
