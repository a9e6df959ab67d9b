/* Sizes of matrices in arithmetic that does not wrap. */
#ifndef T3_DRIVER_MATRICES_H
#define T3_DRIVER_MATRICES_H

#include "t3/element_bytes.h"
#include "t3/t3.h"

static inline bool t3_has_known_kinds(const struct t3_matrix* matrix) {
  return (uint32_t)matrix->element <= T3_FP32 && (uint32_t)matrix->memory <= T3_UNCACHED;
}

static inline uint64_t t3_row_bytes(const struct t3_matrix* matrix) {
  return (uint64_t)matrix->columns * t3_element_bytes(matrix->element);
}

/* False when the size has no 64 bits. */
static inline bool t3_matrix_bytes(const struct t3_matrix* matrix, uint64_t* bytes) {
  if (matrix->rows != 0 && matrix->row_stride > UINT64_MAX / matrix->rows) return false;
  *bytes = matrix->row_stride * matrix->rows;
  return true;
}

#endif
