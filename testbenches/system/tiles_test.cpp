// Tiles that are chosen by the shape: what the rule promises by its own estimate, and what simulations make of it.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "system/platform_run.h"
#include "system/system_reader.h"
#include "workloads/shared/tile_choice.h"

namespace t3vp::test::tiles_test {

namespace {

SystemConfiguration table_1() { return load_system(config("systems/t3-table1.json")); }

/// The tile of a configuration, as a run file writes it.
std::string tile_of(const Settings& settings) {
  return configuration_of(settings).resolved.at("workload").at("gemm").at("tile").get<std::string>();
}

GemmShape shape_of(std::uint32_t m, std::uint32_t n, std::uint32_t k) {
  GemmShape shape;
  shape.m = m, shape.n = n, shape.k = k;
  return shape;
}

std::string text_of(TileShape tile) { return std::to_string(tile.rows) + "x" + std::to_string(tile.columns); }

}  // namespace

TEST_CASE("the chosen tile is by the estimate never slower than the system's own nor 5% slower than any other") {
  const SystemConfiguration system = table_1();
  std::mt19937 random(1);
  const auto length = [&] { return 1 + static_cast<std::uint32_t>(random()) % (1u << (1 + random() % 15)); };
  for (int i = 0; i < 3000; ++i) {
    const GemmShape shape = shape_of(length(), length(), length());
    const TileShape chosen = choose_tile(system, shape);
    CAPTURE(shape.m, shape.n, shape.k, text_of(chosen));
    const double time = estimate_gemm(system, shape, chosen).total();
    if (time > estimate_gemm(system, shape, tiles_of(system).front()).total()) FAIL("the system's own tile is faster");
    for (const TileShape& tile : tiles_of(system)) {
      const double other = estimate_gemm(system, shape, tile).total();
      if (time > 1.05 * other) FAIL(text_of(tile) << " is faster");
      if (other <= time && tile.elements() > chosen.elements()) FAIL(text_of(tile) << " is larger and as fast");
    }
  }
}

TEST_CASE("the estimate knows whole tiles of the compute unit that has most of them") {
  const SystemConfiguration system = table_1();
  for (const TileShape& tile : tiles_of(system)) {
    const GemmEstimate estimate = estimate_gemm(system, shape_of(1000, 1000, 1000), tile);
    const std::uint64_t tiles =
        ((1000 + tile.rows - 1) / tile.rows) * std::uint64_t{(1000 + tile.columns - 1) / tile.columns};
    const double tile_ns = 2.0 * static_cast<double>(tile.elements()) * 1000 / (1024 * 0.75) / 1.4;
    CHECK(estimate.compute == Approx(static_cast<double>((tiles + 79) / 80) * tile_ns).epsilon(1e-5));
    CHECK(estimate.total() >= estimate.compute);
  }
}

TEST_CASE("a system without a list of tiles has its own alone and the run file's overrules") {
  SystemConfiguration system = table_1();
  system.tiles.clear();
  CHECK(choose_tile(system, shape_of(1, 64, 64)) == TileShape{128, 256});
  const Settings narrow = gemm(8, 512, 512);
  const std::string chosen = tile_of(narrow);
  CHECK(read_tile(chosen).elements() < 128 * 256);
  CHECK(tile_of(narrow + Settings{"workload.gemm.tile=64x128"}) == "64x128");
  for (const char* method : {"sequential", "t3", "ideal-rs-nmc"})
    CHECK(tile_of(narrow + Settings{std::string("method=") + method}) == chosen);
}

TEST_CASE("narrow shapes take from their launch less than 1.5 times what DRAM alone needs") {
  constexpr double launch_ns = 3000;
  for (const std::uint32_t m : {1u, 16u, 64u}) {
    const Run run = Run::of_platform(gemm(m, 4256, 2128) + Settings{"gpus=2", "data=timing-only", "method=sequential"});
    const double dram_ns = (m * 2128.0 + 2128.0 * 4256 + m * 4256.0) * 2 / 1024;
    CAPTURE(m, run.time("gemm"), dram_ns, run.report()["workload"].dump());
    CHECK(run.time("gemm") - launch_ns < 1.5 * dram_ns);
    CHECK(run.time("gemm") - launch_ns >=
          (dram_ns * 1024 - m * 4256.0 * 2) / 1024);  // the output may stay in the cache
  }
}

TEST_CASE("the report names the tile") {
  const Settings settings = gemm(16, 512, 512) + Settings{"data=timing-only"};
  const Run run = Run::of_platform(settings);
  CHECK(run.report()["workload"]["gemm"]["tile"] == tile_of(settings));
}

}  // namespace t3vp::test::tiles_test
