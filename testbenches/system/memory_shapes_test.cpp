// Memories of five and six stacks, and of more than 64 banks in a channel.
#include <catch2/catch.hpp>

#include "system/reference_sum.h"

namespace t3vp::test::memory_shapes_test {

namespace {

Settings with_channels(std::uint32_t channels) {
  return {"system.memory.channels=" + std::to_string(channels),
          "system.memory.capacity_GiB=" + std::to_string(channels)};
}

}  // namespace

TEST_CASE("results are right with any number of channels") {
  const std::uint32_t channels = GENERATE(3u, 5u, 6u, 40u, 48u, 80u);
  for (const char* method : {"sequential", "t3-mca"}) {
    CAPTURE(channels, method);
    const Run run = Run::of_platform(gemm(130, 150, 70) + with_channels(channels) +
                                     Settings{on_small_system(), "gpus=3", std::string("method=") + method});
    REQUIRE(run.exit_code() == 0);
    REQUIRE(compare(run, 3, Element::fp16).wrong == 0);
  }
}

TEST_CASE("results are right with 128 banks in a channel") {
  const char* const queueing = GENERATE("shared-round-robin", "split-oldest-first");
  const Run run = Run::of_platform(
      gemm(130, 150, 70) + Settings{on_small_system(), "gpus=3", "method=t3-mca", "memory.geometry.pseudo_channels=2",
                                    "memory.geometry.banks_per_group=16", std::string("memory.queueing=") + queueing});
  REQUIRE(run.exit_code() == 0);
  REQUIRE(compare(run, 3, Element::fp16).wrong == 0);
}

TEST_CASE("five channels move as much in the time as their number says") {
  const auto run_with = [](std::uint32_t channels) {
    return Run::of_platform(gemm(64, 2048, 512) + with_channels(channels) +
                            Settings{on_small_system(), "gpus=2", "method=sequential", "data=timing-only"});
  };
  const Run four = run_with(4), five = run_with(5);
  const auto bound = [](const Run& run) { return run.report()["bounds"]["dram_ns"].get<double>(); };
  REQUIRE(bound(five) == Approx(bound(four) * 4 / 5).epsilon(0.05));
  REQUIRE(five.time("total") < four.time("total") * 1.02);
  REQUIRE(five.time("total") >= four.time("total") * 4 / 5);
}

}  // namespace t3vp::test::memory_shapes_test
