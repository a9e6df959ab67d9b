/* Sizes of matrices in arithmetic that does not wrap. */
#ifndef T3_DRIVER_MATRICES_H
#define T3_DRIVER_MATRICES_H

#include "context_state.h"
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

/* Whether all of the range is in this GPU's memory. */
static inline bool t3_is_own(const struct t3_context* context, uint64_t address, uint64_t bytes) {
  const struct t3_state* state = const_state_of(context);
  const uint64_t begin = t3_on_gpu(state->gpu, 0);
  return address >= begin && bytes <= state->memory_bytes && address - begin <= state->memory_bytes - bytes;
}

static inline bool t3_is_own_matrix(const struct t3_context* context, const struct t3_matrix* matrix) {
  uint64_t bytes = 0;
  return t3_matrix_bytes(matrix, &bytes) && t3_is_own(context, matrix->address, bytes);
}

#endif
