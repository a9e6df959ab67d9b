/* The arithmetic of kernels on rows, in fp32, separate from the transfer of operands. */
#ifndef T3_KERNELS_ROW_ARITHMETIC_H
#define T3_KERNELS_ROW_ARITHMETIC_H

#include "t3/row_operations.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Rows of the operands; where `vectors` has an operand's bit, one row of it serves all. */
struct t3_row_work {
  uint32_t operation; /* enum t3_row_operation */
  float factor;
  uint32_t seed;
  uint64_t first_row; /* in the whole operand: dropout depends on the place */
  uint32_t rows, columns;
  uint8_t vectors;
};

/* The operands that the operation writes from those that it reads. `work` is a struct t3_row_work. */
void t3_compute_rows(const void* work, float* const* operands);

/* Whether dropout keeps the element at (row, column): the same in forward and backward pass, and for all shapes of
 * blocks. */
bool t3_keeps(uint32_t seed, uint64_t row, uint64_t column, float probability);

#ifdef __cplusplus
}
#endif

#endif
