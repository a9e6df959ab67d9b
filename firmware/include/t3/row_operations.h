/* The operations of kernels on rows, with their operands and results. */
#ifndef T3_ROW_OPERATIONS_H
#define T3_ROW_OPERATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "t3/enumeration.h"

/* The operation on every row of a, b, c and out. Where it says vector, an operand of one row serves all rows. */
enum t3_row_operation T3_OF_32_BITS {
  T3_ROWS_SCALE = 1,                /* out = factor a */
  T3_ROWS_ADD = 2,                  /* out = a + b, b may be a vector */
  T3_ROWS_BIAS_GELU = 3,            /* out = gelu(a + b), vector b */
  T3_ROWS_SOFTMAX = 4,              /* out = softmax(a) */
  T3_ROWS_LAYER_NORM = 5,           /* out = a normalized, times vector b, plus vector c */
  T3_ROWS_DROPOUT = 6,              /* out = a / factor with probability `factor`, else 0 */
  T3_ROWS_BIAS_DROPOUT_ADD = 7,     /* out = dropout(a + b) + c, vector b */
  T3_ROWS_BIAS_GELU_BACKWARD = 8,   /* out = a gelu'(b + c), a the gradient, vector c */
  T3_ROWS_SOFTMAX_BACKWARD = 9,     /* out = b (a - sum(a b)), a the gradient, b the softmax */
  T3_ROWS_LAYER_NORM_BACKWARD = 10, /* of layer norm's input: a the gradient, b the input, c the scale vector */
  T3_ROWS_ADAM = 11                 /* b, c moments and out weights in place, a the gradient, factor the rate */
};

/* The operands; `1 << operand` in masks. */
enum t3_row_operand T3_OF_32_BITS { T3_ROWS_A, T3_ROWS_B, T3_ROWS_C, T3_ROWS_OUT, T3_ROWS_OPERANDS };

struct t3_row_traits {
  const char* name;
  uint8_t reads, writes; /* masks of operands */
  uint8_t vectors;       /* operands that may be vectors */
  double operations;     /* vector operations per element, of a usual fp32 implementation */
};

/* Operations: multiply, add, compare count 1; exp, tanh, divide, square root 4, a quarter of the lanes having them; a
 * hash of dropout 8. A sum or maximum over the row counts 1. NULL when there is no such operation. */
static inline const struct t3_row_traits* t3_row_traits_of(uint32_t operation) {
  enum { A = 1 << T3_ROWS_A, B = 1 << T3_ROWS_B, C = 1 << T3_ROWS_C, OUT = 1 << T3_ROWS_OUT };
  static const struct t3_row_traits traits[] = {{"none", 0, 0, 0, 0},
                                                {"scale", A, OUT, 0, 1},
                                                {"add", A | B, OUT, B, 1},
                                                {"bias_gelu", A | B, OUT, B, 11},
                                                {"softmax", A, OUT, 0, 12},
                                                {"layer_norm", A | B | C, OUT, B | C, 7},
                                                {"dropout", A, OUT, 0, 10},
                                                {"bias_dropout_add", A | B | C, OUT, B, 12},
                                                {"bias_gelu_backward", A | B | C, OUT, C, 17},
                                                {"softmax_backward", A | B, OUT, 0, 4},
                                                {"layer_norm_backward", A | B | C, OUT, C, 13},
                                                {"adam", A | B | C | OUT, B | C | OUT, 0, 17}};
  const bool is_one = operation >= T3_ROWS_SCALE && operation <= T3_ROWS_ADAM;
  return is_one ? &traits[operation] : NULL;
}

#endif
