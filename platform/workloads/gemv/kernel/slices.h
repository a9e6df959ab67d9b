/* Functions of kernels that multiply a slice of a matrix's rows by a vector. */
#ifndef T3_KERNELS_GEMV_SLICES_H
#define T3_KERNELS_GEMV_SLICES_H

#include "kernels/operands.h"
#include "t3/device.h"
#include "workloads/gemv/gemv_layout.h"

/* This GPU's operands. */
struct t3_product_by_slices {
  struct t3_gemv gemv;
  uint64_t matrix, vector;
};

/* Tiles of a workgroup: sums, what is added to them at a time, pieces of the matrix and the vector in flight. */
enum { T3_SLICE_SUMS, T3_SLICE_FIRST_ADDEND, T3_SLICE_ADDENDS = 4 };
enum { T3_SLICE_FIRST_PIECE = T3_SLICE_FIRST_ADDEND + T3_SLICE_ADDENDS };
static inline uint32_t t3_slice_tiles(const struct t3_device* device) {
  return T3_SLICE_FIRST_PIECE + 2 * device->prefetch_slabs;
}

/* Rows of the slice. */
uint32_t t3_slice_rows(const struct t3_gemv* g, uint64_t slice);
/* Its results in a tile. */
struct t3_tile t3_slice_tile(const struct t3_gemv* g, uint64_t slice, uint32_t index);
/* Its results in memory. */
struct t3_access t3_slice_access(const struct t3_gemv* g, uint64_t slice, uint64_t address);

/* Multiplies: the results are in the sums' tile. */
void t3_multiply_slice(struct t3_wave* wave, const struct t3_product_by_slices* p, uint64_t slice);

/* Sizes, and that a piece's registers are there. */
bool t3_check_slices(struct t3_check* check, const struct t3_product_by_slices* p);
/* Checks that the operands are in memory, and outside of the output. */
bool t3_check_slices_beside(struct t3_check* check, const struct t3_product_by_slices* p,
                            const struct t3_matrices* written);
/* Adds the operands and the workgroups' resources to the plan. */
void t3_plan_slices(struct t3_plan* plan, const struct t3_device* device, const struct t3_product_by_slices* p);

#endif
