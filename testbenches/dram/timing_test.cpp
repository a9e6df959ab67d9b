#include <catch2/catch.hpp>

#include "dram/memory_file.h"
#include "dram/random_memory.h"
#include "dram/scripted_channel.h"
#include "dram/timing_checker.h"

namespace t3vp::test::timing_test {

using namespace t3vp::dram;

namespace {

void require_clean(const MemorySpec& spec, std::uint32_t seed, std::size_t length) {
  const Outcome outcome = run_script(spec, random_script(seed, length, std::uint64_t{1} << 24));
  const auto violations = timing_violations(spec, outcome.commands);
  CAPTURE(seed, violations.size());
  INFO((violations.empty() ? "" : violations.front()));
  REQUIRE(violations.empty());
  REQUIRE(outcome.statistics.column_accesses() == length);
}

}  // namespace

TEST_CASE("No timing rule of the shipped memories is ever broken on random traffic") {
  const std::string name = GENERATE(as<std::string>{}, "hbm2-legacy", "hbm2-pseudo-channel");
  MemorySpec spec = shipped_memory(name);
  for (const char* map : {"accel", "bgint", "rocol"}) {
    spec.address_map = map;
    for (std::uint32_t seed = 1; seed <= 5; ++seed) require_clean(spec, seed, 10'000);
  }
}

TEST_CASE("No timing rule of random memories is ever broken") {
  for (std::uint32_t seed = 1; seed <= 60; ++seed) require_clean(random_memory(seed), seed, 3'000);
}

TEST_CASE("The checker sees a rule broken by one cycle") {
  const MemorySpec spec = shipped_memory("hbm2-legacy");
  const auto log = [](Cycle column, CommandKind second, Cycle at) {
    return std::vector<Command>{{0, CommandKind::activate, 0, 0, 0, 7, 0},
                                {column, CommandKind::update, 0, 0, 0, 7, 0},
                                {at, second, 0, 0, 0, 7, 1}};
  };
  CHECK(timing_violations(spec, log(11, CommandKind::update, 15)).empty());
  CHECK(timing_violations(spec, log(11, CommandKind::update, 14)).size() == 1);  // CCDWL
  CHECK(timing_violations(spec, log(10, CommandKind::update, 15)).size() == 1);  // RCDWR
  CHECK(timing_violations(spec, log(11, CommandKind::read, 16)).size() == 2);    // WTR, twice
  CHECK(timing_violations(spec, log(20, CommandKind::precharge, 35)).empty());
  CHECK(timing_violations(spec, log(20, CommandKind::precharge, 34)).size() == 1);  // WR
}

}  // namespace t3vp::test::timing_test
