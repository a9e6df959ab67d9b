// A chunk of an output (a run of workgroups' tiles) cut into the blocks that a ring kernel moves one at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/tile_grid.h"

namespace t3vp {

struct Block {
  std::uint64_t offset = 0;  ///< of the first byte from the output's start
  Shape shape;
  std::uint32_t wg_id = 0;  ///< the tile that the first byte lies in
};

/// Tiles in row order fill at most three rectangles: the end of a row of tiles, whole rows, the beginning of one.
class ChunkBlocks {
 public:
  /// Tiles [first, first + count) in blocks of about `block_bytes`.
  ChunkBlocks(const TileGrid& grid, std::uint32_t first, std::uint32_t count, std::uint32_t block_bytes);

  std::uint64_t count() const { return parts_.empty() ? 0 : parts_.back().end; }
  Block block(std::uint64_t index) const;

 private:
  struct Part {
    Rectangle area;
    bool contiguous;               ///< the rows follow each other without a gap
    std::uint64_t unit;            ///< contiguous: bytes of a block; else rows of a block, or bytes of a piece of a row
    std::uint64_t pieces_per_row;  ///< 0 when a block is whole rows
    std::uint64_t begin, end;      ///< block numbers
  };
  void add(const Rectangle& area, std::uint32_t block_bytes);

  TileGrid grid_;
  std::vector<Part> parts_;
};

}  // namespace t3vp
