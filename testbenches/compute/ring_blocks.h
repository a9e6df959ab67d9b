// The blocks of a ring kernel with their shapes as the models have them.
#pragma once

#include "kernels/ring/blocks.h"
#include "protocol/tile_grid.h"

namespace t3vp::compute {

inline t3_grid in_c(const TileGrid& grid) {
  return {grid.rows,
          grid.columns,
          grid.tile_rows,
          grid.tile_columns,
          grid.wavefronts,
          grid.row_stride,
          static_cast<t3_element>(grid.element)};
}

struct Block {
  std::uint64_t offset;
  Shape shape;
  std::uint32_t wg_id;
};

class ChunkBlocks {
 public:
  ChunkBlocks(const TileGrid& grid, std::uint32_t first, std::uint32_t count, std::uint32_t block_bytes)
      : grid_(in_c(grid)), blocks_(t3_chunk_blocks_of(&grid_, first, count, block_bytes)) {}
  std::uint64_t count() const { return blocks_.count; }
  Block block(std::uint64_t index) const {
    const t3_chunk_block block = t3_chunk_block_of(&blocks_, index);
    return {block.offset, {block.rows, block.columns * t3_element_bytes(grid_.element), block.stride}, block.workgroup};
  }

 private:
  t3_grid grid_;
  t3_chunk_blocks blocks_;
};

}  // namespace t3vp::compute
