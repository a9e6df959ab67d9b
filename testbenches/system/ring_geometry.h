// What a ring's GPUs own and send, counted tile by tile.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace t3vp::test {

struct RingGeometry {
  std::uint32_t gpus, rows, columns, element_bytes;
  std::uint32_t tile_rows = 64, tile_columns = 64, wavefronts = 4;  ///< those of small-4

  struct Chunk {
    std::uint64_t bytes = 0, wavefront_tiles = 0;
  };

  std::uint64_t bytes() const { return std::uint64_t{rows} * columns * element_bytes; }

  /// By owner: GPU c keeps chunk c, tiles [c T / N, (c + 1) T / N) of T tiles row by row.
  std::vector<Chunk> chunks() const {
    const std::uint32_t down = (rows + tile_rows - 1) / tile_rows, across = (columns + tile_columns - 1) / tile_columns;
    const std::uint64_t tiles = std::uint64_t{down} * across;
    std::vector<Chunk> chunks(gpus);
    for (std::uint64_t tile = 0; tile < tiles; ++tile) {
      std::uint32_t owner = 0;
      while (tile >= tiles * (owner + 1) / gpus) ++owner;
      const auto row = static_cast<std::uint32_t>(tile / across) * tile_rows;
      const auto column = static_cast<std::uint32_t>(tile % across) * tile_columns;
      const std::uint32_t height = std::min(tile_rows, rows - row), width = std::min(tile_columns, columns - column);
      const std::uint32_t share = tile_rows / wavefronts;
      chunks[owner].bytes += std::uint64_t{height} * width * element_bytes;
      chunks[owner].wavefront_tiles += (height + share - 1) / share;
    }
    return chunks;
  }

  /// The chunk whose partial sums GPU g sends first and never sees again.
  std::uint32_t first_of(std::uint32_t gpu) const { return (gpu + 1) % gpus; }
  std::uint32_t previous(std::uint32_t gpu) const { return (gpu + gpus - 1) % gpus; }
};

}  // namespace t3vp::test
