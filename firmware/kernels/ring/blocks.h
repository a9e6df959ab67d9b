/* A chunk of an output (a run of workgroups' tiles) cut into the blocks that a ring kernel moves one at a time. */
#ifndef T3_KERNELS_BLOCKS_H
#define T3_KERNELS_BLOCKS_H

#include <stdbool.h>

#include "t3/grid.h"

#ifdef __cplusplus
extern "C" {
#endif

struct t3_chunk_block {
  uint64_t offset; /* bytes of the first element from the output's start */
  uint64_t stride; /* bytes from one row to the next; 0 of a single one */
  uint32_t rows, columns;
  uint32_t workgroup; /* whose tile the first element lies in */
};

/* A rectangle of the chunk and how it is cut. */
struct t3_chunk_part {
  struct t3_rectangle area;
  bool contiguous;         /* its rows follow each other without a gap */
  uint64_t unit;           /* contiguous: bytes of a block; else rows of a block, or bytes of a piece of a row */
  uint64_t pieces_per_row; /* 0 when a block is whole rows */
  uint64_t end;            /* number of the block behind its last one */
};

/* Tiles in row order fill at most three rectangles: the end of a row of tiles, whole rows, the beginning of one. */
enum { T3_BLOCKS_PARTS = 3 };

struct t3_chunk_blocks {
  struct t3_grid grid;
  struct t3_chunk_part parts[T3_BLOCKS_PARTS];
  uint32_t part_count;
  uint64_t count; /* blocks in all */
};

/* Tiles first to first + count - 1 in blocks of about `block_bytes`. */
struct t3_chunk_blocks t3_chunk_blocks_of(const struct t3_grid* grid, uint32_t first, uint32_t count,
                                          uint32_t block_bytes);

struct t3_chunk_block t3_chunk_block_of(const struct t3_chunk_blocks* blocks, uint64_t index);

#ifdef __cplusplus
}
#endif

#endif
