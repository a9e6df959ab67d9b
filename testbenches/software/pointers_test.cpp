// Pointers to nowhere that programs hand to the HAL.
#include <algorithm>
#include <catch2/catch.hpp>

#include "software/outside_run.h"

namespace t3vp::test::pointers_test {

TEST_CASE("a pointer to nowhere in any call of the HAL is one line that names the firmware") {
  // Numbers are of the table in pointers.c, behind whose last one a run succeeds.
  int number = 0;
  for (bool is_there = true; is_there; ++number) {
    const OutsideRun run(
        library("pointers") + ":wild",
        {{"arguments", {{"number", number}, {"u64", 1}, {"double", 1.5}, {"bool", true}, {"text", "x"}}}});
    const Outcome outcome = run.run();
    INFO(number << " " << outcome.err << outcome.out);
    is_there = outcome.err.find("GPU 0 at 0.000 ns: ") == 0;
    if (!is_there) break;
    CHECK(outcome.exit_code == 1);
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 2);
    CHECK_THAT(outcome.err,
               Catch::EndsWith("\nt3vp: the firmware of GPU 0 has accessed memory of the host that is not there\n"));
  }
  CHECK(number == 27);
}

}  // namespace t3vp::test::pointers_test
