#include "blocks.h"

enum { SECTOR_BYTES = 32 }; /* pieces of rows begin on DRAM accesses */

static uint64_t divide_up(uint64_t length, uint64_t part) { return (length + part - 1) / part; }
static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

static void add(struct t3_chunk_blocks* blocks, struct t3_rectangle area, uint32_t block_bytes) {
  struct t3_chunk_part part = {.area = area};
  const uint64_t row_bytes = (uint64_t)area.columns * t3_element_bytes(blocks->grid.element);
  uint64_t count;
  if (row_bytes == blocks->grid.stride) {
    part.contiguous = true;
    part.unit = block_bytes;
    count = divide_up(row_bytes * area.rows, part.unit);
  } else if (row_bytes <= block_bytes) {
    part.unit = block_bytes / row_bytes;
    count = divide_up(area.rows, part.unit);
  } else {
    const uint64_t pieces = divide_up(row_bytes, block_bytes);
    part.unit = divide_up(divide_up(row_bytes, pieces), SECTOR_BYTES) * SECTOR_BYTES;
    part.pieces_per_row = divide_up(row_bytes, part.unit);
    count = part.pieces_per_row * area.rows;
  }
  blocks->count += count;
  part.end = blocks->count;
  blocks->parts[blocks->part_count++] = part;
}

struct t3_chunk_blocks t3_chunk_blocks_of(const struct t3_grid* grid, uint32_t first, uint32_t count,
                                          uint32_t block_bytes) {
  struct t3_chunk_blocks blocks = {.grid = *grid};
  const uint32_t across = t3_tiles_across(grid);
  for (uint32_t tile = first, taken; tile < first + count; tile += taken) {
    const uint32_t left = first + count - tile, column = tile % across;
    /* Whole rows of tiles are one rectangle, otherwise what lies in this row. */
    taken = column == 0 && left >= across ? left / across * across : t3_smaller(left, across - column);
    const struct t3_rectangle begin = t3_tile_of(grid, tile), last = t3_tile_of(grid, tile + taken - 1);
    add(&blocks,
        (struct t3_rectangle){begin.row, begin.column, last.row + last.rows - begin.row,
                              last.column + last.columns - begin.column},
        block_bytes);
  }
  return blocks;
}

struct t3_chunk_block t3_chunk_block_of(const struct t3_chunk_blocks* blocks, uint64_t index) {
  const struct t3_grid* grid = &blocks->grid;
  const struct t3_chunk_part* part = blocks->parts;
  uint64_t first = 0;
  for (; index >= part->end; ++part) first = part->end;
  const uint64_t n = index - first, element = t3_element_bytes(grid->element);
  const uint64_t row_bytes = part->area.columns * element;
  uint64_t row = 0, byte = 0;
  struct t3_chunk_block block = {.rows = 1};
  if (part->contiguous) {
    const uint64_t begin = n * part->unit;
    row = begin / row_bytes;
    byte = begin % row_bytes;
    block.columns = (uint32_t)(smaller(part->unit, row_bytes * part->area.rows - begin) / element);
  } else if (part->pieces_per_row == 0) {
    row = n * part->unit;
    block.rows = (uint32_t)smaller(part->unit, part->area.rows - row);
    block.columns = part->area.columns;
    block.stride = grid->stride;
  } else {
    row = n / part->pieces_per_row;
    byte = n % part->pieces_per_row * part->unit;
    block.columns = (uint32_t)(smaller(part->unit, row_bytes - byte) / element);
  }
  const uint32_t in_row = (uint32_t)(part->area.row + row), column = (uint32_t)(part->area.column + byte / element);
  block.offset = t3_offset_of(grid, in_row, column);
  block.workgroup = in_row / grid->tile_rows * t3_tiles_across(grid) + column / grid->tile_columns;
  return block;
}
