/* What a GPU does by itself in a Transformer layer: kernels in order, on tensors that the program allocates. */
#ifndef T3_LAYER_H
#define T3_LAYER_H

#include "t3/t3.h"

enum { T3_LAYER_TENSORS_MAX = 64 };

struct t3_tensor {
  const char* name;
  uint64_t bytes;
  enum t3_element element;
};

/* A matrix in a tensor. */
struct t3_operand {
  bool used;
  uint32_t tensor;         /* its place in the list */
  struct t3_matrix matrix; /* the address is an offset in the tensor */
};

enum t3_layer_kernel T3_OF_32_BITS { T3_LAYER_GEMM, T3_LAYER_ROWS, T3_LAYER_ATTENTION };

struct t3_layer_operation {
  enum t3_layer_kernel kernel;
  struct t3_operand a, b, c, out; /* attention: qkv, gradient, result */
  bool transpose_a, transpose_b;  /* GEMM */
  struct t3_tiling tiling;        /* GEMM, attention */
  struct t3_batch batch;          /* GEMM, attention */
  enum t3_row_operation rows;
  enum t3_attention_pass pass;
  struct t3_row_options options; /* rows; attention: the factor */
};

struct t3_layer {
  const struct t3_tensor* tensors;
  uint32_t tensor_count; /* at most T3_LAYER_TENSORS_MAX */
  const struct t3_layer_operation* operations;
  uint32_t operation_count;
};

#endif
