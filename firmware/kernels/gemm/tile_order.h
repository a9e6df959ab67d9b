/* The order in which the workgroups of a GEMM take the tiles of its output. */
#ifndef T3_KERNELS_GEMM_TILE_ORDER_H
#define T3_KERNELS_GEMM_TILE_ORDER_H

#include <stdbool.h>

#include "t3/grid.h"

struct t3_tile_order {
  uint32_t first;  /* the tile that comes first; the order wraps around */
  uint32_t chunks; /* 0 and 1: by numbers. Else one tile of each of so many chunks, round-robin, beginning with the
                      chunk of `first`; at the end the last tiles of chunks that are larger than others */
  uint32_t group;  /* 0 and 1: by numbers. Else rows of tiles that are taken together, column by column: workgroups that
                      run at once then share more of both factors. Not with chunks */
  bool of_columns; /* `group` counts columns of tiles, which are taken together row by row */
};

/* Returns the number of the tile that comes at this place of the order, 0 to the number of tiles - 1. */
uint32_t t3_tile_in_order(const struct t3_tile_order* order, const struct t3_grid* grid, uint32_t place);

#endif
