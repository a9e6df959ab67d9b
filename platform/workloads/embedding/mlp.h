/* The perceptrons of a recommendation model on one GPU: their tensors, and the kernels of a layer. */
#ifndef T3_PROGRAMS_MLP_H
#define T3_PROGRAMS_MLP_H

#include "workloads/embedding/dlrm_layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Return the weights before the pass, equal on all GPUs, and the first layer's input for each sample of the global
 * batch: numbers from -1 to 1 - 2^-23, with weights divided by `width`. */
float t3_mlp_weight(const struct t3_dlrm* shape, uint32_t layer, uint32_t row, uint32_t column);
float t3_mlp_dense(uint32_t sample, uint32_t column);

struct t3_mlp {
  const struct t3_dlrm* shape;
  enum t3_element element;
  uint32_t samples;                /* of this GPU */
  uint64_t layer_bytes;            /* from one layer's weights, or their gradients, to the next one's */
  uint64_t matrix_bytes;           /* of samples */
  uint64_t weights, gradients;     /* of all layers, the last one first, as gradients are computed */
  uint64_t inputs, products;       /* of all layers; a layer's output is the next one's input */
  uint64_t bias, errors, unscaled; /* of a layer's output, and of its product */
};

enum t3_status t3_mlp_allocate(struct t3_context* gpu, const struct t3_dlrm* shape, enum t3_element element,
                               uint32_t samples, struct t3_mlp* mlp);
/* Hands what layers begin with to the platform, "dense" and "weights000" on; the GPU's samples begin with this one. */
void t3_mlp_publish(const struct t3_context* gpu, const struct t3_mlp* mlp, uint32_t first_sample);
/* Returns the input of a layer; the input after the last layer is the last layer's output. */
struct t3_matrix t3_mlp_input(const struct t3_mlp* mlp, uint32_t layer);
/* The gradient that the layer in front has to go on with. */
struct t3_matrix t3_mlp_error(const struct t3_mlp* mlp);
/* Weights or gradients of so many layers, the last one first, as rows that GPUs can share. */
struct t3_matrix t3_mlp_rows(const struct t3_mlp* mlp, uint64_t address, uint32_t layers, uint32_t gpus);

/* A product with the weights, then bias and GELU. */
enum t3_status t3_mlp_queue_forward(struct t3_context* gpu, const struct t3_mlp* mlp, uint32_t layer);
/* GELU's gradient, then those of weights and input. */
enum t3_status t3_mlp_queue_backward(struct t3_context* gpu, const struct t3_mlp* mlp, uint32_t layer);

#ifdef __cplusplus
}
#endif

#endif
