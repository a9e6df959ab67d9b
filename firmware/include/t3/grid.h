/* The output of a GEMM cut into tiles, tiles into wavefront tiles, and the row of tiles into one chunk per GPU, for
 * kernels. models/protocol/tile_grid.h is its twin for the models; a test compares them. */
#ifndef T3_GRID_H
#define T3_GRID_H

#include "t3/element_bytes.h"

struct t3_rectangle {
  uint32_t row, column, rows, columns; /* elements */
};

struct t3_grid {
  uint32_t rows, columns;
  uint32_t tile_rows, tile_columns;
  uint32_t wavefronts; /* of a tile, which they share by rows */
  uint64_t stride;     /* bytes from one row of the output to the next */
  enum t3_element element;
};

static inline uint32_t t3_divide_up(uint32_t length, uint32_t part) { return length / part + (length % part != 0); }
static inline uint32_t t3_smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

static inline uint32_t t3_tiles_across(const struct t3_grid* grid) {
  return t3_divide_up(grid->columns, grid->tile_columns);
}

static inline uint32_t t3_tiles_of(const struct t3_grid* grid) {
  return t3_divide_up(grid->rows, grid->tile_rows) * t3_tiles_across(grid);
}

/* The tile of a workgroup, clipped at the output's edges. */
static inline struct t3_rectangle t3_tile_of(const struct t3_grid* grid, uint32_t workgroup) {
  const uint32_t row = workgroup / t3_tiles_across(grid) * grid->tile_rows;
  const uint32_t column = workgroup % t3_tiles_across(grid) * grid->tile_columns;
  const struct t3_rectangle tile = {row, column, t3_smaller(grid->tile_rows, grid->rows - row),
                                    t3_smaller(grid->tile_columns, grid->columns - column)};
  return tile;
}

/* The rows of a wavefront in a clipped tile; none when they lie below the output's edge. */
static inline struct t3_rectangle t3_wavefront_of(const struct t3_grid* grid, struct t3_rectangle tile,
                                                  uint32_t wavefront) {
  const uint32_t each = grid->tile_rows / grid->wavefronts;
  const uint32_t begin = t3_smaller(tile.rows, wavefront * each), end = t3_smaller(tile.rows, begin + each);
  const struct t3_rectangle part = {tile.row + begin, tile.column, end - begin, tile.columns};
  return part;
}

/* Bytes from the output's start. */
static inline uint64_t t3_offset_of(const struct t3_grid* grid, uint32_t row, uint32_t column) {
  const uint64_t wide_column = column;
  return row * grid->stride + wide_column * t3_element_bytes(grid->element);
}

/* First workgroup of a chunk, which ends where the next one begins. */
static inline uint32_t t3_chunk_begin(const struct t3_grid* grid, uint64_t chunk, uint32_t chunks) {
  const uint64_t begin = chunk * t3_tiles_of(grid) / chunks;
  return begin & UINT32_MAX; /* no more than there are tiles */
}

#endif
