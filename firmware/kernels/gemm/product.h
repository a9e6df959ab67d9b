/* The product of which a workgroup computes a tile: K tiles of a's rows and b's columns are loaded ahead of their use,
 * and their products added up. */
#ifndef T3_KERNELS_GEMM_PRODUCT_H
#define T3_KERNELS_GEMM_PRODUCT_H

#include "t3/check.h"
#include "t3/device.h"
#include "t3/grid.h"

/* Rows of the first factor that lie one behind the other, from the address of the first on. */
struct t3_row_piece {
  uint64_t address;
  uint32_t rows;
};

/* Matrices in memory, row by row, and the tile that the program is made for. */
struct t3_factors {
  uint64_t a, b;
  uint32_t lda, ldb; /* bytes from one row to the next */
  uint32_t k;
  uint32_t tile_rows, tile_columns;
  enum t3_element element;
  bool transpose_a, transpose_b; /* a is k x m, b is n x k */
  uint32_t stages;               /* K tiles that are loaded at a time; 0: the device's prefetch_slabs */
  uint32_t step_ns;              /* from one product to the next, beside the lanes' time */
  /* The rows of `a` that the tile has, where they lie in several pieces. NULL: they lie as `a` and `lda` say. */
  const struct t3_row_piece* pieces;
  uint32_t piece_count;
};

/* Tiles of a workgroup, its sums' the first. */
static inline uint32_t t3_product_tiles(const struct t3_device* device) { return 1 + 2 * device->prefetch_slabs; }
static inline struct t3_tile t3_product_sums(struct t3_rectangle place) {
  return (struct t3_tile){0, place.rows, place.columns, T3_FP32};
}

/* Computes what is at this place of the output, no larger than the tile. */
void t3_multiply_tile(struct t3_wave* wave, const struct t3_factors* factors, struct t3_rectangle place);

/* One of several products that a workgroup computes one after the other, of as many K tiles each. */
struct t3_tile_product {
  const struct t3_factors* factors;
  struct t3_rectangle place;
  uint32_t depth, k_tiles, ahead;
  uint32_t before; /* K tiles of the workgroup before this product */
};
struct t3_tile_product t3_first_product(const struct t3_wave* wave, const struct t3_factors* factors,
                                        struct t3_rectangle place);
struct t3_tile_product t3_next_product(const struct t3_tile_product* product, const struct t3_factors* factors,
                                       struct t3_rectangle place);
/* Starts to load the first K tiles. */
void t3_load_first(struct t3_wave* wave, const struct t3_tile_product* product);
/* Computes a product whose first K tiles are loaded, and starts to load those of the next one. NULL: there is none. */
void t3_multiply_loaded(struct t3_wave* wave, const struct t3_tile_product* product,
                        const struct t3_tile_product* next);

/* Sets the plan's tiles. As many more workgroups fit as the tile is smaller than the machine's own tile. The program is
 * compiled for so many, which share the registers, unless its fp32 sums take more. */
void t3_plan_tiles(struct t3_plan* plan, const struct t3_device* device, uint32_t tile_rows, uint32_t tile_columns);

/* Refuses more stages than the device prefetches, and stores of more than a sector. */
bool t3_check_pipeline(struct t3_check* check, uint32_t stages, uint32_t store_bytes);

#endif
