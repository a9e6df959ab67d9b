// A kernel of one's own says that it names the wavefront tiles of its output, which a map counts.
#include <catch2/catch.hpp>

#include "software/outside_run.h"

namespace t3vp::test::naming_test {

using Catch::Contains;

namespace {

/// The diagnosis of a run in which the kernel does so.
std::string diagnosis_of(const char* how) {
  const OutsideRun run(library("guests") + ":naming", {{"data", "functional"}, {"arguments", {{"how", how}}}});
  CHECK(run.run().exit_code == 1);
  std::string text;
  for (const auto& line : run.report().at("diagnosis").get<std::vector<std::string>>()) text += line + "\n";
  return text;
}

}  // namespace

TEST_CASE("a kernel that names its tiles as it says is counted") {
  const OutsideRun run(library("guests") + ":naming", {{"data", "functional"}, {"arguments", {{"how", "right"}}}});
  CHECK(run.run().exit_code == 0);
}

TEST_CASE("an update of a mapped tile that names another one is told at the first and no wait hangs") {
  for (const char* how : {"another", "another_again"}) {
    INFO(how);
    CHECK_THAT(diagnosis_of(how), Contains("GPU 0 firmware ended with mismatch") &&
                                      Contains("update of wavefront 0 of GPU 0's workgroup 100: the mapped workgroups "
                                               "0 to 0 of the output at 0x") &&
                                      Contains(" count those of wavefront 0 of workgroup 0 there"));
  }
}

TEST_CASE("a kernel that says that it names its tiles and does not ends at the first such store") {
  CHECK_THAT(diagnosis_of("nameless"),
             Contains("GPU 0 firmware ended with aborted") &&
                 Contains("kernel naming: workgroup 0, wave 0: a store to 0x") &&
                 Contains(" that names no tile: its plan says T3_TILES_NAMED, a name expected"));
  CHECK_THAT(diagnosis_of("cached"), Contains("GPU 0 firmware ended with aborted") &&
                                         Contains(" through the cache, which forgets its tile: its plan says "
                                                  "T3_TILES_NAMED, an uncached one expected"));
}

TEST_CASE("the diagnosis of a map that is short names the kernel that has ended") {
  CHECK_THAT(diagnosis_of("nothing"), Contains("0 from GPU 0's kernel naming. 256 of GPU 0's kernel naming have not "
                                               "been counted, and it has ended: ") &&
                                          Contains("or without their tile's name"));
}

}  // namespace t3vp::test::naming_test
