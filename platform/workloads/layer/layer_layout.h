/* The local work of a GPU in a Transformer layer: kernels in order, on tensors that the program allocates. */
#ifndef T3_WORKLOADS_LAYER_LAYOUT_H
#define T3_WORKLOADS_LAYER_LAYOUT_H

#include <assert.h>
#include <string.h>

#include "t3/t3.h"
#include "t3/workloads/layer.h"

enum { T3_LAYER_TENSORS_MAX = 64 };

struct t3_layer_tensor {
  uint64_t bytes;
  uint32_t name; /* where it begins among the names */
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

/* The bytes of the workload: struct t3_layer_workload, the tensors, the operations, the names. Tensors and operations
 * lie there as C has them in memory: the simulating machine and the RISC-V core both have 64 bits and are little
 * endian. */
static_assert(T3_LAYER_RUN_BYTES % 16 == 0, "tensors and operations are aligned");
static_assert(sizeof(struct t3_layer_tensor) == 16, "two cores share it");
static_assert(sizeof(struct t3_matrix) == 32, "two cores share it");
static_assert(sizeof(struct t3_operand) == 40, "two cores share it");
static_assert(sizeof(struct t3_layer_operation) == 216, "two cores share it");

struct t3_layer {
  uint32_t tensor_count, operation_count, name_bytes;
  const unsigned char *tensors, *operations, *names;
};

static inline uint64_t t3_layer_bytes(uint64_t tensors, uint64_t operations, uint64_t name_bytes) {
  return T3_LAYER_RUN_BYTES + tensors * sizeof(struct t3_layer_tensor) +
         operations * sizeof(struct t3_layer_operation) + name_bytes;
}

/* T3_INVALID_ARGUMENT where the run is no layer's, or of too many tensors. */
static inline enum t3_status t3_layer_of(const struct t3_run* run, struct t3_layer* out) {
  struct t3_layer_workload w;
  const enum t3_status status = t3_layer_workload_of(run, &w);
  if (status != T3_OK) return status;
  if (w.tensor_count > T3_LAYER_TENSORS_MAX ||
      run->argument_bytes != t3_layer_bytes(w.tensor_count, w.operation_count, w.name_bytes))
    return T3_INVALID_ARGUMENT;
  if (w.name_bytes != 0 && run->arguments[run->argument_bytes - 1] != 0) return T3_INVALID_ARGUMENT;
  out->tensor_count = w.tensor_count;
  out->operation_count = w.operation_count;
  out->name_bytes = w.name_bytes;
  out->tensors = run->arguments + T3_LAYER_RUN_BYTES;
  out->operations = out->tensors + w.tensor_count * sizeof(struct t3_layer_tensor);
  out->names = out->operations + w.operation_count * sizeof(struct t3_layer_operation);
  return T3_OK;
}

/* Arguments begin at a multiple of 16 bytes, and so do the tensors. The copies of pointers are casts, in C and C++. */
static inline const struct t3_layer_tensor* t3_layer_tensor_at(const struct t3_layer* layer, uint32_t index) {
  const void* place = layer->tensors + index * sizeof(struct t3_layer_tensor);
  const struct t3_layer_tensor* tensor;
  memcpy(&tensor, &place, sizeof tensor);
  return tensor;
}

static inline const struct t3_layer_operation* t3_layer_operation_at(const struct t3_layer* layer, uint32_t index) {
  const void* place = layer->operations + index * sizeof(struct t3_layer_operation);
  const struct t3_layer_operation* operation;
  memcpy(&operation, &place, sizeof operation);
  return operation;
}

/* Empty where it begins behind the names. */
static inline const char* t3_layer_name(const struct t3_layer* layer, const struct t3_layer_tensor* tensor) {
  const void* name = layer->names + tensor->name;
  const char* text = "";
  if (tensor->name < layer->name_bytes) memcpy(&text, &name, sizeof text); /* a cast, in C and C++ alike */
  return text;
}

#endif
