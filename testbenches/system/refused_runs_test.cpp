// What is refused before it runs is what the run's own memory and tables would refuse: that much and no more.
#include <catch2/catch.hpp>

#include "io/input_error.h"
#include "system/platform_run.h"

namespace t3vp::test::refused_runs_test {

namespace {

const char* const methods[] = {"sequential", "t3", "t3-mca", "ideal-overlap", "ideal-rs-nmc"};

bool is_accepted(const Settings& settings) {
  try {
    configuration_of(settings);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

/// Runs what has been refused.
Run run_with(const Settings& settings, const std::function<void(RunConfiguration&)>& change) {
  RunConfiguration configuration = configuration_of(settings);
  change(configuration);
  return Run::of_platform(configuration);
}

bool tells(const Run& run, const std::string& word) {
  for (const std::string& line : run.diagnosis())
    if (line.find(word) != std::string::npos) return true;
  return false;
}

}  // namespace

TEST_CASE("the smallest memory that is accepted holds a run and a stripe less does not") {
  constexpr std::uint64_t stripe = 4 * 256;  // a block in each of small-4's channels
  const bool is_large = GENERATE(false, true);
  const Settings shape = is_large ? gemm(256, 256, 64) + Settings{"workload.gemm.transpose_b=true"} : gemm(100, 70, 33);
  for (const char* method : methods) {
    const Settings settings =
        shape + Settings{on_small_system(), "gpus=2", "data=timing-only", std::string("method=") + method};
    const auto with_memory = [&](std::uint64_t stripes) {
      const double GiB = static_cast<double>(stripes * stripe) / (1 << 30);
      return settings + Settings{"system.memory.capacity_GiB=" + nlohmann::json(GiB).dump()};
    };
    std::uint64_t refused = 1, accepted = 4096;
    while (accepted - refused > 1) {
      const std::uint64_t middle = (accepted + refused) / 2;
      (is_accepted(with_memory(middle)) ? accepted : refused) = middle;
    }
    CAPTURE(method, accepted);
    REQUIRE(Run::of_platform(with_memory(accepted)).exit_code() == 0);
    const Run smaller =
        run_with(settings, [&](RunConfiguration& c) { c.system.memory.capacity_bytes = refused * stripe; });
    CAPTURE(smaller.diagnosis());
    REQUIRE(smaller.exit_code() == 1);
    REQUIRE(tells(smaller, "out_of_memory"));
  }
}

TEST_CASE("a fused run needs a chunk of the Tracker and a DMA command for every other GPU") {
  const Settings settings = gemm(256, 256, 64) + Settings{on_small_system(), "gpus=5", "data=timing-only", "method=t3"};
  for (const char* table : {"system.tracker.chunks=", "system.dma.commands="}) {
    CAPTURE(table);
    REQUIRE(Run::of_platform(settings + Settings{table + std::string("4")}).exit_code() == 0);
    REQUIRE_FALSE(is_accepted(settings + Settings{table + std::string("3")}));
    REQUIRE(is_accepted(settings + Settings{table + std::string("3"), "method=sequential"}));
  }
  CHECK(tells(run_with(settings, [](RunConfiguration& c) { c.system.tracker.chunks = 3; }), "table_full"));
  CHECK(tells(run_with(settings, [](RunConfiguration& c) { c.system.dma.commands = 3; }), "table_full"));
}

TEST_CASE("the fewest ways of a strict Tracker that are accepted are enough and one less is not") {
  for (const std::uint32_t sets : {1u, 4u, 8u}) {
    const Settings settings = gemm(450, 330, 100) + Settings{on_small_system(),
                                                             "gpus=5",
                                                             "data=timing-only",
                                                             "method=t3",
                                                             "system.tracker.index=workgroup",
                                                             "system.tracker.sets=" + std::to_string(sets)};
    std::uint32_t refused = 0, accepted = 256;
    while (accepted - refused > 1) {
      const std::uint32_t ways = (accepted + refused) / 2;
      const bool fits =
          is_accepted(settings + Settings{"system.tracker.strict=true", "system.tracker.ways=" + std::to_string(ways)});
      (fits ? accepted : refused) = ways;
    }
    CAPTURE(sets, accepted);
    const auto run_with_ways = [&](std::uint32_t ways) {
      return run_with(settings, [&](RunConfiguration& c) {
        c.system.tracker.strict = true;
        c.system.tracker.ways = ways;
      });
    };
    REQUIRE(run_with_ways(accepted).exit_code() == 0);
    REQUIRE(tells(run_with_ways(refused), "capacity"));
  }
}

}  // namespace t3vp::test::refused_runs_test
