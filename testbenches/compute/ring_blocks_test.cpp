#include "ring_blocks.h"

#include <catch2/catch.hpp>
#include <random>
#include <vector>

namespace t3vp::test::ring_blocks_test {

using namespace compute;

namespace {

constexpr std::uint32_t sector = 32;

TileGrid random_grid(std::mt19937& random) {
  const auto up_to = [&](std::uint32_t most) { return 1 + static_cast<std::uint32_t>(random() % most); };
  TileGrid grid;
  grid.element = static_cast<ElementType>(random() % 3);
  grid.rows = up_to(70);
  grid.columns = up_to(300);
  grid.tile_rows = up_to(16);
  grid.tile_columns = 16 * up_to(6);
  const std::uint64_t row_bytes = std::uint64_t{grid.columns} * bytes_of(grid.element);
  grid.row_stride = (row_bytes + sector - 1) / sector * sector + sector * (random() % 3);
  return grid;
}

/// How often each byte of the output belongs to the chunk, by its definition: the elements of its workgroups' tiles.
std::vector<int> bytes_of_chunk(const TileGrid& grid, std::uint32_t first, std::uint32_t count) {
  std::vector<int> bytes(grid.bytes());
  for (std::uint32_t wg = first; wg < first + count; ++wg) {
    const Rectangle tile = grid.tile(wg);
    for (std::uint32_t row = tile.row; row < tile.row + tile.rows; ++row)
      for (std::uint64_t b = grid.offset(row, tile.column); b < grid.offset(row, tile.column + tile.columns); ++b)
        ++bytes[b];
  }
  return bytes;
}

void check_chunk(const TileGrid& grid, std::uint32_t first, std::uint32_t count, std::uint32_t block_bytes) {
  INFO(grid.rows << " x " << grid.columns << " in " << grid.tile_rows << " x " << grid.tile_columns << ", stride "
                 << grid.row_stride << ", tiles " << first << " + " << count << ", blocks of " << block_bytes);
  const ChunkBlocks chunk(grid, first, count, block_bytes);
  std::vector<int> covered(grid.bytes());
  for (std::uint64_t i = 0; i < chunk.count(); ++i) {
    const Block block = chunk.block(i);
    REQUIRE(block.shape.bytes() > 0);
    const bool one_row = block.shape.rows == 1;
    REQUIRE((one_row || block.shape.bytes() <= block_bytes));
    REQUIRE(block.shape.bytes() <= block_bytes + sector);
    const std::uint64_t row = block.offset / grid.row_stride;
    const std::uint64_t column = block.offset % grid.row_stride / bytes_of(grid.element);
    REQUIRE(block.wg_id == row / grid.tile_rows * grid.tiles_across() + column / grid.tile_columns);
    for (std::uint32_t r = 0; r < block.shape.rows; ++r)
      for (std::uint32_t b = 0; b < block.shape.row_bytes; ++b) {
        const std::uint64_t at = block.offset + r * block.shape.stride + b;
        REQUIRE(at < grid.bytes());
        ++covered[at];
      }
  }
  REQUIRE(covered == bytes_of_chunk(grid, first, count));
}

}  // namespace

TEST_CASE("blocks cover each byte of a chunk exactly once and no other") {
  std::mt19937 random(9);
  constexpr std::uint32_t sizes[] = {32, 64, 96, 256, 1024, 4096};
  for (int i = 0; i < 400; ++i) {
    const TileGrid grid = random_grid(random);
    const std::uint32_t gpus = 1 + static_cast<std::uint32_t>(random() % 6);
    const std::uint32_t block_bytes = sizes[random() % std::size(sizes)];
    for (std::uint32_t c = 0; c < gpus; ++c) {
      const std::uint32_t begin = grid.chunk_begin(c, gpus);
      check_chunk(grid, begin, grid.chunk_begin(c + 1, gpus) - begin, block_bytes);
    }
  }
}

TEST_CASE("whole rows without gaps are cut into full blocks") {
  const TileGrid grid{64, 256, 16, 64, 1, 512, ElementType::fp16};
  const ChunkBlocks chunk(grid, 4, 8, 4096);  // two rows of tiles: 32 rows of 512 bytes
  REQUIRE(chunk.count() == 4);
  for (std::uint64_t i = 0; i < 4; ++i) {
    REQUIRE(chunk.block(i).offset == 16 * 512 + i * 4096);
    REQUIRE((chunk.block(i).shape.rows == 1 && chunk.block(i).shape.row_bytes == 4096));
  }
  REQUIRE(chunk.block(2).wg_id == 8);
}

TEST_CASE("a chunk in the middle has the end of a row of tiles, whole rows and the beginning of one") {
  const TileGrid grid{64, 256, 16, 64, 1, 512, ElementType::fp16};
  const ChunkBlocks chunk(grid, 3, 6, 4096);  // tile 3; tiles 4 to 7; tile 8
  REQUIRE(chunk.count() == 1 + 2 + 1);
  REQUIRE(chunk.block(0).offset == 3 * 128);
  REQUIRE(
      (chunk.block(0).shape.rows == 16 && chunk.block(0).shape.row_bytes == 128 && chunk.block(0).shape.stride == 512));
  REQUIRE(chunk.block(1).shape.row_bytes == 4096);
  REQUIRE(chunk.block(3).offset == 32 * 512);
  REQUIRE(chunk.block(3).wg_id == 8);
}

TEST_CASE("no workgroups, no blocks") {
  const TileGrid grid{16, 16, 16, 16, 1, 32, ElementType::fp16};
  REQUIRE(ChunkBlocks(grid, 1, 0, 4096).count() == 0);
}

TEST_CASE("kernels and models cut an output alike") {
  std::mt19937 random(10);
  const auto same = [](const t3_rectangle& c, const Rectangle& model) {
    return c.row == model.row && c.column == model.column && c.rows == model.rows && c.columns == model.columns;
  };
  for (int i = 0; i < 200; ++i) {
    TileGrid grid = random_grid(random);
    grid.tile_rows = 8 * (1 + static_cast<std::uint32_t>(random() % 4));
    grid.wavefronts = 1u << random() % 4;
    const t3_grid c = in_c(grid);
    REQUIRE(t3_tiles_of(&c) == grid.workgroups());
    for (std::uint32_t wg = 0; wg < grid.workgroups(); ++wg) {
      const t3_rectangle tile = t3_tile_of(&c, wg);
      REQUIRE(same(tile, grid.tile(wg)));
      REQUIRE(t3_offset_of(&c, tile.row, tile.column) == grid.offset(grid.tile(wg)));
      for (std::uint32_t wf = 0; wf < grid.wavefronts; ++wf) {
        const t3_rectangle part = t3_wavefront_of(&c, tile, wf);
        REQUIRE(same(part, grid.wavefront_tile(wg, wf)));
      }
    }
    for (std::uint32_t chunk = 0; chunk <= 5; ++chunk)
      REQUIRE(t3_chunk_begin(&c, chunk, 5) == grid.chunk_begin(chunk, 5));
  }
}

}  // namespace t3vp::test::ring_blocks_test
