// What a program leaves to its reader: kernels that hang, and texts of any bytes.
#include <algorithm>
#include <catch2/catch.hpp>

#include "io/printable.h"
#include "software/outside_run.h"

namespace t3vp::test::left_behind_test {

TEST_CASE("a program that ends well fails its run when its kernel never ends") {
  const OutsideRun run(library("guests") + ":careless", {{"gpus", 2}});
  CHECK(run.run().exit_code == 1);
  std::vector<std::string> expected;
  for (const char* gpu : {"GPU 0 ", "GPU 1 "}) {
    expected.push_back(std::string(gpu) +
                       "compute units: queue 0: kernel 1 of 1 is not finished: 1 workgroups have started, 0 are done");
    expected.push_back(std::string(gpu) + "signals: a workgroup of queue 0 waits for counter 300 to reach 1, it is 0");
  }
  CHECK(run.report().at("diagnosis").get<std::vector<std::string>>() == expected);
}

TEST_CASE("a program that ends with a timeout is diagnosed with what its kernel waits for") {
  const OutsideRun run(library("guests") + ":impatient");
  CHECK(run.run().exit_code == 1);
  CHECK(run.report().at("diagnosis").get<std::vector<std::string>>() ==
        std::vector<std::string>{
            "GPU 0 firmware ended with timeout: the wait's time is over",
            "GPU 0 compute units: queue 0: kernel 1 of 1 is not finished: 1 workgroups have started, 0 are done",
            "GPU 0 signals: a workgroup of queue 0 waits for counter 300 to reach 1, it is 0"});
}

TEST_CASE("texts of programs forge no line and are in the report whatever their bytes are") {
  const OutsideRun run(library("guests") + ":badly_worded");
  const Outcome outcome = run.run();
  CHECK(outcome.exit_code == 1);
  CHECK(
      run.report().at("diagnosis").get<std::vector<std::string>>() ==
      std::vector<std::string>{"GPU 0 firmware begins a phase without a plain name: bad\uFFFD GPU 1 firmware passed"});
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 2);
  CHECK_THAT(outcome.err, Catch::Contains("\uFFFD( [2Jred green \u00E9  \n"));
}

TEST_CASE("printable text is UTF-8 without control characters") {
  for (const char* plain : {"", "a b~", "\u00E9", "\u20AC", "\uFFFD", "\U0001F600", "\U0010FFFF"})
    CHECK(printable(plain) == plain);
  const std::string wrong = "\uFFFD";
  CHECK(printable("a\tb\nc\x7F\x1B") == "a b c  ");
  CHECK(printable("\u0080\u009F\u00A0") == "  \u00A0");
  CHECK(printable("\x80") == wrong);
  CHECK(printable("\xC3") == wrong);                                      // cut off
  CHECK(printable("\xE2\x82") == wrong + wrong);                          // cut off
  CHECK(printable("\xC0\xAF") == wrong + wrong);                          // overlong
  CHECK(printable("\xE0\x80\xAF") == wrong + wrong + wrong);              // overlong
  CHECK(printable("\xED\xA0\x80") == wrong + wrong + wrong);              // a surrogate
  CHECK(printable("\xF4\x90\x80\x80") == wrong + wrong + wrong + wrong);  // beyond the last
  CHECK(printable("\xF5x") == wrong + "x");
  CHECK(printable(std::string("a\0b", 3)) == "a b");
}

}  // namespace t3vp::test::left_behind_test
