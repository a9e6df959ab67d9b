// Libraries and programs that change how the host computes with floats.
#include <catch2/catch.hpp>

#include "software/outside_run.h"

namespace t3vp::test::floats_test {

TEST_CASE("what a library and its program make of the floating-point environment changes nothing that is computed") {
  const OutsideRun run(library("floats") + ":multiply", {{"gpus", 2}});
  const Outcome outcome = run.run();
  INFO(outcome.err << outcome.out);
  CHECK(outcome.exit_code == 0);
  CHECK(run.report().at("functional").at("elements") == 2 * 16 * 16);
  CHECK(run.report().at("functional").at("mismatches") == 0);
}

}  // namespace t3vp::test::floats_test
