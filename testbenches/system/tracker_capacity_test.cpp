// A Tracker that is too small spills, or refuses when it is strict (T3 4.2.1 sizes it to hold all tiles in flight).
#include <catch2/catch.hpp>

#include "io/input_error.h"
#include "system/reference_sum.h"

namespace t3vp::test::tracker_capacity_test {

namespace {

Settings with_tracker(std::uint32_t sets, std::uint32_t ways, bool strict) {
  return gemm(450, 330, 100) + Settings{on_small_system(),
                                        "gpus=5",
                                        "method=t3",
                                        "system.tracker.sets=" + std::to_string(sets),
                                        "system.tracker.ways=" + std::to_string(ways),
                                        "system.tracker.index=workgroup",
                                        std::string("system.tracker.strict=") + (strict ? "true" : "false")};
}

/// What is refused before it runs is not refused here.
t3vp::RunConfiguration strict_without_check(std::uint32_t sets) {
  t3vp::RunConfiguration configuration = configuration_of(with_tracker(sets, 4, false));
  configuration.system.tracker.strict = true;
  return configuration;
}

std::uint64_t spills(const Run& run) { return run.report()["tracker"]["spills"]; }
double waited(const Run& run) { return run.report()["tracker"]["trigger_wait_ns"]; }

}  // namespace

TEST_CASE("a small Tracker spills, and nothing is lost") {
  const Run roomy = Run::of_platform(with_tracker(64, 4, false));  // a set for each of the 48 workgroups
  REQUIRE(roomy.exit_code() == 0);
  REQUIRE(spills(roomy) == 0);
  REQUIRE(waited(roomy) == 0);
  std::uint64_t fewer = 0;
  for (const std::uint32_t sets : {16u, 4u, 1u}) {
    INFO(sets);
    const Run run = Run::of_platform(with_tracker(sets, 4, false));
    REQUIRE(run.exit_code() == 0);
    REQUIRE(compare(run, 5, Element::fp16).wrong == 0);
    REQUIRE((outputs(run, 5) == outputs(roomy, 5)));
    REQUIRE(spills(run) > fewer);
    REQUIRE(waited(run) > 0);
    REQUIRE(run.report()["tracker"]["triggers"] == roomy.report()["tracker"]["triggers"]);
    fewer = spills(run);
    // Spilled and reloaded entries are accesses of their own, 32 bytes each.
    REQUIRE(run.dram_bytes("control") > roomy.dram_bytes("control"));
  }
}

TEST_CASE("by index hash a small Tracker spills no more, and nothing is lost") {
  const Settings hash{"system.tracker.index=hash"};
  for (const std::uint32_t sets : {16u, 4u}) {
    INFO(sets);
    const Run run = Run::of_platform(with_tracker(sets, 4, false) + hash);
    REQUIRE(run.exit_code() == 0);
    CHECK(compare(run, 5, Element::fp16).wrong == 0);
    CHECK(spills(run) <= spills(Run::of_platform(with_tracker(sets, 4, false))));
  }
  CHECK(spills(Run::of_platform(with_tracker(128, 4, false) + hash)) == 0);
}

TEST_CASE("a strict Tracker with index hash runs without a spill or says that it has no room") {
  for (const std::uint32_t sets : {16u, 128u}) {
    t3vp::RunConfiguration configuration = configuration_of(with_tracker(sets, 4, false));
    configuration.system.tracker.strict = true;
    configuration.system.tracker.index = memory::TrackerIndex::hash;
    const Run run = Run::of_platform(configuration);
    INFO(sets);
    CHECK(spills(run) == 0);
    CHECK(run.exit_code() == (sets == 16 ? 1 : 0));
  }
}

TEST_CASE("the Tracker's size is its geometry's") {
  REQUIRE(Run::of_platform(with_tracker(64, 8, false)).report()["tracker"]["size_bytes"] == 64 * 8 * 76 / 8);
}

TEST_CASE("a strict Tracker refuses what it could not hold, and the run says so") {
  const Run run = Run::of_platform(strict_without_check(1));
  REQUIRE(run.exit_code() == 1);
  std::size_t refusals = 0;
  for (const std::string& line : run.diagnosis())
    if (line.find("error log") != std::string::npos && line.find("tracker: capacity") != std::string::npos) ++refusals;
  REQUIRE(refusals == 5);  // of each GPU's first dma_map
}

TEST_CASE("a strict Tracker that takes a program's chunks never spills") {
  for (const std::uint32_t sets : {1u, 4u, 8u, 16u, 32u, 64u}) {
    INFO(sets);
    const Run run = Run::of_platform(strict_without_check(sets));
    REQUIRE(spills(run) == 0);
    if (sets != 64) REQUIRE_THROWS_AS(configuration_of(with_tracker(sets, 4, true)), t3vp::InputError);
    REQUIRE(run.exit_code() == (sets == 64 ? 0 : 1));
  }
}

}  // namespace t3vp::test::tracker_capacity_test
