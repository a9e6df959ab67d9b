/* The buffers in which partial sums and their flags arrive: what programs, kernels and the platform share.
 *
 * Chunks are runs of tiles (t3/grid.h), and GPU g owns chunk g. An owner has a slot for each GPU. A slot holds the rows
 * that the chunk's tiles lie in, so that a tile has the same place in each slot. Each tile of a chunk has a flag of a
 * byte for each GPU (t3/peer_flags.h). */
#ifndef T3_WORKLOADS_RIVAL_LAYOUT_H
#define T3_WORKLOADS_RIVAL_LAYOUT_H

#include "t3/collective.h"
#include "t3/grid.h"
#include "t3/peer_flags.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Successive tiles of an output. */
struct t3_tile_run {
  uint32_t first, count;
};

static inline struct t3_tile_run t3_owned_tiles(const struct t3_grid* grid, uint32_t gpu, uint32_t gpus) {
  const struct t3_tile_run run = {t3_chunk_begin(grid, gpu, gpus),
                                  t3_chunk_begin(grid, UINT64_C(1) + gpu, gpus) - t3_chunk_begin(grid, gpu, gpus)};
  return run;
}

static inline uint32_t t3_tile_owner(const struct t3_grid* grid, uint32_t tile, uint32_t gpus) {
  return (uint32_t)(((UINT64_C(1) + tile) * gpus - 1) / t3_tiles_of(grid));
}

/* Rows that tiles lie in. */
struct t3_row_run {
  uint32_t first, count;
};

static inline struct t3_row_run t3_rows_of_tiles(const struct t3_grid* grid, struct t3_tile_run run) {
  struct t3_row_run rows = {0, 0};
  if (run.count == 0) return rows;
  const struct t3_rectangle last = t3_tile_of(grid, run.first + run.count - 1);
  rows.first = t3_tile_of(grid, run.first).row;
  rows.count = last.row + last.rows - rows.first;
  return rows;
}

/* Of the GPU whose chunk has the most rows, which all GPUs allocate. */
static inline uint64_t t3_slot_bytes(const struct t3_grid* grid, uint32_t gpus) {
  uint32_t most = 0;
  for (uint32_t gpu = 0; gpu < gpus; ++gpu) {
    const uint32_t rows = t3_rows_of_tiles(grid, t3_owned_tiles(grid, gpu, gpus)).count;
    if (rows > most) most = rows;
  }
  return most * grid->stride;
}

/* Returns part `index` of `parts` of some rows. Parts differ by a row at most, and earlier ones are larger. */
static inline struct t3_row_run t3_part_of_rows(struct t3_row_run rows, uint32_t index, uint32_t parts) {
  const struct t3_row_run part = {rows.first + (uint32_t)(t3_flat_chunk_begin(rows.count, index, parts) & UINT32_MAX),
                                  (uint32_t)(t3_flat_chunk_size(rows.count, index, parts) & UINT32_MAX)};
  return part;
}

/* Where pieces of rows are exchanged, a GPU owns a part of each piece. Bytes of the slot for one sender of a piece. */
static inline uint64_t t3_piece_slot_bytes(const struct t3_grid* grid, uint32_t pieces, uint32_t gpus) {
  const struct t3_row_run rows = {0, grid->rows};
  return t3_part_of_rows(t3_part_of_rows(rows, 0, pieces), 0, gpus).count * grid->stride;
}

/* Flags of a piece, a byte for each sender, where kernels may begin. */
static inline uint64_t t3_piece_flag_bytes(uint32_t gpus) { return t3_padded(t3_peer_flag_bytes(gpus)); }

/* Flags of the largest chunk. */
static inline uint64_t t3_tile_flag_bytes(const struct t3_grid* grid, uint32_t gpus) {
  return t3_divide_up(t3_tiles_of(grid), gpus) * t3_peer_flag_bytes(gpus);
}

#ifdef __cplusplus
}
#endif

#endif
