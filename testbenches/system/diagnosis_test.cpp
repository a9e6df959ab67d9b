// A fused run whose dma_map expects other updates than the ring sends.
#include <algorithm>
#include <catch2/catch.hpp>

#include "report/report.h"
#include "run/simulation.h"
#include "system/platform_run.h"
#include "t3/address.h"
#include "t3_hal.h"

namespace t3vp::test::diagnosis_test {

using Catch::Contains;

namespace {

std::vector<std::string> lines_of(const Run& run, std::uint32_t gpu) {
  std::vector<std::string> lines;
  for (const std::string& line : run.diagnosis())
    if (line.rfind("GPU " + std::to_string(gpu) + " ", 0) == 0) lines.push_back(line);
  return lines;
}

const std::string large_tiles = R"(system.compute.tiles=["128x256"])";

/// 1024 x 1024 in tiles of 128 x 256 of 8 wavefronts: 32 workgroups, 4096 elements in a wavefront tile.
void require_explained(const Run& run, std::uint32_t gpus) {
  std::size_t told = 0;
  for (std::uint32_t g = 0; g < gpus; ++g) {
    const auto lines = lines_of(run, g);
    CAPTURE(lines);
    REQUIRE(lines.size() == std::min(gpus, 4u));
    told += lines.size();
    const std::string self = "GPU " + std::to_string(g), sender = "GPU " + std::to_string((g + 1) % gpus);
    CHECK(lines[0] == self + " firmware waits for the chunks of dma_map");
    // The first chunk that is forwarded has all updates in flight; the next one waits for the neighbour's.
    const std::uint32_t size = 32 / gpus, first = (g + 2) % gpus * size, next = (g + 3) % gpus * size;
    const std::string tiles = ": 0 of " + std::to_string(size * 8) + " wavefront tiles complete. ";
    CHECK_THAT(lines[1], Contains(self + " Tracker: workgroups " + std::to_string(first) + " to " +
                                  std::to_string(first + size - 1) + tiles));
    CHECK_THAT(lines[1], Contains("Workgroup " + std::to_string(first) + " wavefront 0 at 0x"));
    CHECK_THAT(lines[1], Contains("has 8192 element updates and expects 12288, 3 per element"));
    CHECK_THAT(lines[1], Contains("4096 from " + self + "'s kernel gemm, 4096 from " + sender + "'s kernel gemm"));
    CHECK_THAT(lines[1], Contains("Nobody owes the rest: no program sends the third update"));
    if (gpus == 2) continue;
    CHECK_THAT(lines[2], Contains("Workgroup " + std::to_string(next) + " wavefront 0"));
    CHECK_THAT(lines[2], Contains("has 4096 element updates and expects 12288"));
    CHECK_THAT(lines[2], Contains(sender + "'s DMA owes 4096 and waits for updates of its own tile; "
                                           "no program sends the third update"));
  }
  REQUIRE(run.diagnosis().size() == told + 1);  // and the fault itself
  CHECK_THAT(run.diagnosis().back(), Contains("fault dma_map_updates struck"));
}

}  // namespace

TEST_CASE("updates that nobody sends end a run with a diagnosis, not with a hang") {
  for (const std::uint32_t gpus : {4u, 2u, 8u}) {
    const Run run = Run::of_program({"gpus=" + std::to_string(gpus), "inject.dma_map_updates=3", large_tiles});
    REQUIRE(run.exit_code() == 1);
    require_explained(run, gpus);
    for (const std::string& line : run.diagnosis()) CHECK_THAT(run.terminal(), Contains(line));
  }
}

TEST_CASE("the address in the diagnosis is that of the tile in the output") {
  const Run run = Run::of_platform({"inject.dma_map_updates=3", "data=timing-only", large_tiles});
  // The output lies behind two operands of 1 MiB each and the kernel queue's 2 KiB; workgroup 24 is in its last
  // quarter.
  CHECK_THAT(lines_of(run, 0)[2], Contains("Workgroup 24 wavefront 0 at 0x381000 has"));
  CHECK_THAT(lines_of(run, 1)[1], Contains("Workgroup 24 wavefront 0 at 0x100000381000 has"));
}

TEST_CASE("the mirror's diagnosis is that of a GPU in the ring") {
  const Settings settings{"inject.dma_map_updates=3", "data=timing-only"};
  const Run all = Run::of_platform(settings), mirror = Run::of_platform(settings + Settings{"simulate=mirror"});
  REQUIRE(mirror.exit_code() == 1);
  REQUIRE(lines_of(mirror, 0) == lines_of(all, 0));
  REQUIRE(mirror.diagnosis().size() == lines_of(all, 0).size() + 1);
}

TEST_CASE("a run that broke off has no figures that cannot be") {
  const Run run = Run::of_platform({"inject.dma_map_updates=5", "data=timing-only"});
  REQUIRE(run.exit_code() == 1);
  REQUIRE(run.report()["functional"]["checked"] == false);
  for (const auto& link : run.report()["links"]) {
    REQUIRE(link["utilization"].get<double>() >= 0);
    REQUIRE(link["utilization"].get<double>() <= 1);
  }
  CHECK_THAT(lines_of(run, 3)[1], Contains("no program sends the other 3 updates"));
}

TEST_CASE("tiles that are sent on too early, and so twice, are noticed") {
  const Run run = Run::of_platform({on_small_system(), "inject.dma_map_updates=1"});
  REQUIRE(run.exit_code() == 1);
  for (std::uint32_t g = 0; g < 4; ++g) {
    const auto lines = lines_of(run, g);
    CAPTURE(lines);
    REQUIRE(lines.size() == 4);  // the map of each chunk reports its first
    CHECK_THAT(lines[0], Contains("firmware ended with excess"));
    for (std::size_t i = 1; i < 4; ++i)
      CHECK_THAT(lines[i], Contains("tracker: excess") && Contains("whose tile has had all its 1 per element"));
  }
}

namespace {

/// Reads where no register is, three times and once more for each GPU before.
t3_status read_nothing(const t3_hal* hal, const t3_run*) {
  std::uint32_t value = 0;
  for (std::uint32_t i = 0; i < 3 + hal->gpu; ++i)
    hal->read32(hal->platform, t3_block_base(hal->gpu, T3_BLOCK_COUNT), &value);
  return T3_OK;
}

}  // namespace

TEST_CASE("of a GPU's errors the first four are told and the others counted") {
  t3vp::RunOptions options;
  options.program = read_nothing;
  const Settings settings{on_small_system(), "gpus=4", "data=timing-only"};
  const t3vp::RunConfiguration configuration = configuration_of(settings);
  const RunResult result = simulate(configuration, options);
  const std::vector<std::string> lines = failures(result);
  CAPTURE(lines);
  std::vector<std::string> counted;
  std::size_t told = 0;
  for (const std::string& line : lines) {
    if (line.find(" error log at ") != std::string::npos) ++told;
    if (line.find(" error log: ") != std::string::npos) counted.push_back(line);
  }
  CHECK(told == 3 + 4 + 4 + 4);
  CHECK(counted == std::vector<std::string>{"GPU 2 error log: 1 more entry, in error_log of report.json",
                                            "GPU 3 error log: 2 more entries, in error_log of report.json"});
  CHECK(lines.size() == told + counted.size());
  const auto all = report_json(configuration, result).at("error_log");
  CHECK(all.size() == 3 + 4 + 5 + 6);
  CHECK_THAT(all.back().get<std::string>(), Catch::StartsWith("GPU 3 error log at "));
}

}  // namespace t3vp::test::diagnosis_test
