#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "driver/context_state.h"
#include "protocol/tile_grid.h"
#include "t3/t3.h"
#include "t3_hal.h"

namespace t3vp::test::chunks_test {

namespace {

const t3_hal hal{};

/// Its HAL is never called.
void open(t3_context& context) {
  context.magic = T3_CONTEXT_MAGIC;
  context.itself = &context;
  context.hal = &hal;
}

t3_output output_of(const TileGrid& grid) {
  t3_output output{};
  output.matrix.rows = grid.rows;
  output.matrix.columns = grid.columns;
  output.tiling = {grid.tile_rows, grid.tile_columns, 1};
  return output;
}

TileGrid random_grid(std::mt19937& random) {
  const auto up_to = [&](std::uint32_t limit) {
    return std::uniform_int_distribution<std::uint32_t>(1, limit)(random);
  };
  TileGrid grid;
  grid.rows = up_to(3000);
  grid.columns = up_to(3000);
  grid.tile_rows = up_to(256);
  grid.tile_columns = up_to(256);
  return grid;
}

}  // namespace

TEST_CASE("driver and models cut an output into the same chunks") {
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    const TileGrid grid = random_grid(random);
    const t3_output output = output_of(grid);
    REQUIRE(t3_workgroups(&output) == grid.workgroups());
    for (std::uint32_t chunks : {1u, 2u, 5u, 8u, 64u}) {
      for (std::uint32_t c = 0; c < chunks; ++c) {
        const t3_chunk chunk = t3_chunk_of(&output, c, chunks);
        REQUIRE(chunk.first_workgroup == grid.chunk_begin(c, chunks));
        REQUIRE(chunk.first_workgroup + chunk.workgroups == grid.chunk_begin(c + 1, chunks));
      }
    }
  }
}

TEST_CASE("chunks of very many tiles are counted in 64 bits") {
  TileGrid grid;
  grid.rows = grid.columns = 60'000;
  grid.tile_rows = grid.tile_columns = 1;  // 3.6e9 tiles
  const t3_output output = output_of(grid);
  constexpr std::uint32_t chunks = 64;
  for (std::uint32_t c = 0; c < chunks; ++c) {
    REQUIRE(t3_chunk_of(&output, c, chunks).first_workgroup == 3'600'000'000u / chunks * c);
    REQUIRE(grid.chunk_begin(c, chunks) == 3'600'000'000u / chunks * c);
  }
}

TEST_CASE("in every step of the ring each GPU works on another chunk, which its neighbour had the step before") {
  TileGrid grid;
  grid.rows = 1000;
  grid.columns = 776;
  grid.tile_rows = grid.tile_columns = 128;
  const t3_output output = output_of(grid);
  for (std::uint32_t gpus = 1; gpus <= 9; ++gpus) {
    const auto first_of = [&](std::uint32_t gpu, std::uint32_t step) {
      t3_context context{};
      open(context);
      context.gpu = gpu % gpus;
      context.gpus = gpus;
      return t3_ring_chunk(&context, &output, step).first_workgroup;
    };
    for (std::uint32_t step = 0; step < gpus; ++step) {
      std::map<std::uint32_t, int> seen;
      for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) {
        ++seen[first_of(gpu, step)];
        if (step > 0) REQUIRE(first_of(gpu, step) == first_of(gpu + 1, step - 1));
      }
      REQUIRE(seen.size() == gpus);
    }
    for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) REQUIRE(first_of(gpu, gpus - 1) == grid.chunk_begin(gpu, gpus));
  }
}

TEST_CASE("the data goes to the previous GPU") {
  t3_context context{};
  open(context);
  context.gpus = 5;
  context.gpu = 3;
  REQUIRE(t3_ring_previous(&context) == 2);
  context.gpu = 0;
  REQUIRE(t3_ring_previous(&context) == 4);
}

}  // namespace t3vp::test::chunks_test
