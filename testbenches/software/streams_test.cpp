// Queues as streams (t3/streams.h) and the progress of single chunks (t3/chunk_progress.h), as programs use them. What
// the programs find otherwise than expected is their status T3_MISMATCH.
#include <catch2/catch.hpp>

#include "software/outside_run.h"

namespace t3vp::test::streams_test {

namespace {

void require_right(const OutsideRun& run) {
  const Outcome outcome = run.run();
  INFO(outcome.err << outcome.out);
  REQUIRE(outcome.exit_code == 0);
}

}  // namespace

TEST_CASE("a queue copies what another one has computed when its event has happened, beside the next kernel") {
  const OutsideRun run(library("guests") + ":overlapping", {{"gpus", 2}, {"data", "functional"}});
  require_right(run);
  REQUIRE(run.report().at("functional").at("elements") == 2 * 2 * 512 * 64);
  REQUIRE(run.report().at("functional").at("mismatches") == 0);
}

TEST_CASE("a consumer of each chunk runs when its chunk is complete, beside the kernel that produces the others") {
  const OutsideRun run(library("guests") + ":consuming", {{"gpus", 1}, {"data", "functional"}});
  require_right(run);
  REQUIRE(run.report().at("functional").at("mismatches") == 0);
}

TEST_CASE("streams and chunks that are misused have one code each") {
  const OutsideRun run(library("guests") + ":streams_misused", {{"gpus", 2}});
  const Outcome outcome = run.run();
  REQUIRE(outcome.exit_code == 1);  // the error log has the chunk that is not mapped
  REQUIRE_THAT(outcome.err + outcome.out, Catch::Contains("every misuse had its code") &&
                                              Catch::Contains("workgroups 0 to 0 of the output at 0x"));
}

}  // namespace t3vp::test::streams_test
