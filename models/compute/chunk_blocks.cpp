#include "compute/chunk_blocks.h"

#include <algorithm>

namespace t3vp {
namespace {

constexpr std::uint64_t sector = 32;  // pieces of rows begin on DRAM accesses

std::uint64_t divide_up(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

}  // namespace

ChunkBlocks::ChunkBlocks(const TileGrid& grid, std::uint32_t first, std::uint32_t count, std::uint32_t block_bytes)
    : grid_(grid) {
  const std::uint32_t across = grid.tiles_across();
  for (std::uint32_t tile = first; tile < first + count;) {
    const std::uint32_t left = first + count - tile;
    const std::uint32_t column = tile % across;
    // Whole rows of tiles are one rectangle, otherwise what lies in this row.
    const std::uint32_t taken =
        column == 0 && left >= across ? left / across * across : std::min(left, across - column);
    const Rectangle begin = grid.tile(tile);
    const Rectangle last = grid.tile(tile + taken - 1);
    add({begin.row, begin.column, last.row + last.rows - begin.row, last.column + last.columns - begin.column},
        block_bytes);
    tile += taken;
  }
}

void ChunkBlocks::add(const Rectangle& area, std::uint32_t block_bytes) {
  Part part{area, false, 0, 0, count(), 0};
  const std::uint64_t row_bytes = std::uint64_t{area.columns} * bytes_of(grid_.element);
  std::uint64_t blocks;
  if (row_bytes == grid_.row_stride) {
    part.contiguous = true;
    part.unit = block_bytes;
    blocks = divide_up(row_bytes * area.rows, part.unit);
  } else if (row_bytes <= block_bytes) {
    part.unit = block_bytes / row_bytes;
    blocks = divide_up(area.rows, part.unit);
  } else {
    const std::uint64_t pieces = divide_up(row_bytes, block_bytes);
    part.unit = divide_up(divide_up(row_bytes, pieces), sector) * sector;
    part.pieces_per_row = divide_up(row_bytes, part.unit);
    blocks = part.pieces_per_row * area.rows;
  }
  part.end = part.begin + blocks;
  parts_.push_back(part);
}

Block ChunkBlocks::block(std::uint64_t index) const {
  const auto part = std::find_if(parts_.begin(), parts_.end(), [&](const Part& p) { return index < p.end; });
  const std::uint64_t n = index - part->begin;
  const Rectangle& area = part->area;
  const std::uint32_t element = bytes_of(grid_.element);
  const std::uint64_t row_bytes = std::uint64_t{area.columns} * element;
  std::uint64_t row, column_byte = 0;
  Block block;
  if (part->contiguous) {
    const std::uint64_t begin = n * part->unit;
    const std::uint64_t bytes = std::min(part->unit, row_bytes * area.rows - begin);
    row = begin / row_bytes;
    column_byte = begin % row_bytes;
    block.shape = {1, static_cast<std::uint32_t>(bytes), 0};
  } else if (part->pieces_per_row == 0) {
    row = n * part->unit;
    const std::uint64_t rows = std::min<std::uint64_t>(part->unit, area.rows - row);
    block.shape = {static_cast<std::uint32_t>(rows), static_cast<std::uint32_t>(row_bytes), grid_.row_stride};
  } else {
    row = n / part->pieces_per_row;
    column_byte = n % part->pieces_per_row * part->unit;
    block.shape = {1, static_cast<std::uint32_t>(std::min(part->unit, row_bytes - column_byte)), 0};
  }
  const std::uint64_t column = area.column + column_byte / element;
  block.offset = (area.row + row) * grid_.row_stride + column * element;
  block.wg_id = static_cast<std::uint32_t>((area.row + row) / grid_.tile_rows * grid_.tiles_across() +
                                           column / grid_.tile_columns);
  return block;
}

}  // namespace t3vp
