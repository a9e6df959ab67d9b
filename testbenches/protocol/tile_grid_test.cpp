#include "protocol/tile_grid.h"

#include <catch2/catch.hpp>
#include <random>
#include <vector>

namespace t3vp::test::tile_grid_test {

namespace {

TileGrid random_grid(std::mt19937& random) {
  const auto up_to = [&](std::uint32_t most) { return 1 + static_cast<std::uint32_t>(random() % most); };
  TileGrid grid;
  grid.wavefronts = up_to(8);
  grid.rows = up_to(90);
  grid.columns = up_to(90);
  grid.tile_rows = grid.wavefronts * up_to(6);
  grid.tile_columns = up_to(40);
  grid.element = static_cast<ElementType>(random() % 3);
  grid.row_stride = (grid.columns + random() % 5) * bytes_of(grid.element);
  return grid;
}

/// Marks a rectangle's elements; false when one was marked before or lies outside of the output.
bool mark(std::vector<bool>& elements, const TileGrid& grid, const Rectangle& r) {
  if (r.empty()) return true;
  if (r.row + r.rows > grid.rows || r.column + r.columns > grid.columns) return false;
  for (std::uint32_t row = r.row; row < r.row + r.rows; ++row)
    for (std::uint32_t column = r.column; column < r.column + r.columns; ++column) {
      if (elements[row * grid.columns + column]) return false;
      elements[row * grid.columns + column] = true;
    }
  return true;
}

bool same(const Rectangle& a, const Rectangle& b) {
  return a.row == b.row && a.column == b.column && a.rows == b.rows && a.columns == b.columns;
}

}  // namespace

TEST_CASE("a grid by hand: 300 x 200 in tiles of 128 x 96, 4 wavefronts") {
  const TileGrid grid{300, 200, 128, 96, 4, 512, ElementType::fp16};
  REQUIRE(grid.tiles_down() == 3);
  REQUIRE(grid.tiles_across() == 3);
  REQUIRE(grid.workgroups() == 9);
  REQUIRE(grid.bytes() == 300 * 512);
  REQUIRE(same(grid.tile(0), {0, 0, 128, 96}));
  REQUIRE(same(grid.tile(5), {128, 192, 128, 8}));  // clipped at the right
  REQUIRE(same(grid.tile(8), {256, 192, 44, 8}));   // and below
  REQUIRE(same(grid.wavefront_tile(4, 3), {224, 96, 32, 96}));
  REQUIRE(same(grid.wavefront_tile(7, 1), {288, 96, 12, 96}));
  REQUIRE(grid.wavefront_tile(7, 2).empty());
  REQUIRE(grid.wavefront_tile(7, 3).empty());
  REQUIRE(grid.offset(grid.tile(5)) == 128 * 512 + 192 * 2);
  const Shape shape = grid.shape(grid.tile(8));
  REQUIRE((shape.rows == 44 && shape.row_bytes == 16 && shape.stride == 512));
  REQUIRE(shape.bytes() == grid.tile(8).elements() * 2);
}

TEST_CASE("wavefront tiles partition the tiles, and tiles the output") {
  std::mt19937 random(4);
  for (int i = 0; i < 500; ++i) {
    const TileGrid grid = random_grid(random);
    std::vector<bool> by_tile(grid.rows * grid.columns), by_wavefront(grid.rows * grid.columns);
    for (std::uint32_t wg = 0; wg < grid.workgroups(); ++wg) {
      const Rectangle tile = grid.tile(wg);
      REQUIRE(!tile.empty());
      REQUIRE(mark(by_tile, grid, tile));
      std::uint64_t elements = 0;
      for (std::uint32_t wf = 0; wf < grid.wavefronts; ++wf) {
        const Rectangle part = grid.wavefront_tile(wg, wf);
        REQUIRE(mark(by_wavefront, grid, part));
        if (part.empty()) continue;
        REQUIRE((part.column == tile.column && part.columns == tile.columns && part.row >= tile.row));
        elements += part.elements();
      }
      REQUIRE(elements == tile.elements());
    }
    REQUIRE(by_tile == std::vector<bool>(by_tile.size(), true));
    REQUIRE(by_wavefront == by_tile);
  }
}

TEST_CASE("chunks partition the workgroups and differ by one at most") {
  std::mt19937 random(5);
  for (int i = 0; i < 2000; ++i) {
    const TileGrid grid = random_grid(random);
    const std::uint32_t chunks = 1 + static_cast<std::uint32_t>(random() % 20);
    REQUIRE(grid.chunk_begin(0, chunks) == 0);
    REQUIRE(grid.chunk_begin(chunks, chunks) == grid.workgroups());
    for (std::uint32_t c = 0; c < chunks; ++c) {
      REQUIRE(grid.chunk_begin(c, chunks) <= grid.chunk_begin(c + 1, chunks));
      const std::uint32_t size = grid.chunk_begin(c + 1, chunks) - grid.chunk_begin(c, chunks);
      REQUIRE(size >= grid.workgroups() / chunks);
      REQUIRE(size <= (grid.workgroups() + chunks - 1) / chunks);
    }
  }
}

TEST_CASE("offsets and chunks of large outputs do not overflow 32 bits") {
  const TileGrid grid{200'000, 100'000, 128, 128, 8, 200'000, ElementType::fp16};
  const Rectangle last = grid.tile(grid.workgroups() - 1);
  REQUIRE(grid.offset(last) == std::uint64_t{1562} * 128 * 200'000 + 781 * 128 * 2);
  REQUIRE(grid.offset(last) + (last.rows - 1) * grid.row_stride + last.columns * 2 == grid.bytes());
  REQUIRE(grid.chunk_begin(65535, 65536) == std::uint64_t{1563} * 782 * 65535 / 65536);
}

}  // namespace t3vp::test::tile_grid_test
