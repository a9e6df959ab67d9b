#include "workloads/embedding/mlp.h"

#include <stddef.h>

#include "workloads/shared/program_steps.h"

enum t3_status t3_mlp_allocate(struct t3_context* gpu, const struct t3_dlrm* shape, enum t3_element element,
                               uint32_t samples, struct t3_mlp* mlp) {
  const uint64_t row = t3_dlrm_row_bytes(shape, element);
  const uint32_t layers = t3_dlrm_layers(shape);
  *mlp = (struct t3_mlp){.shape = shape,
                         .element = element,
                         .samples = samples,
                         .layer_bytes = t3_dlrm_layer_bytes(shape, element, t3_gpus(gpu)),
                         .matrix_bytes = samples * row};
  T3_TRY(t3_malloc(gpu, layers * mlp->layer_bytes, &mlp->weights));
  T3_TRY(t3_malloc(gpu, layers * mlp->layer_bytes, &mlp->gradients));
  T3_TRY(t3_malloc(gpu, (layers + 1) * mlp->matrix_bytes, &mlp->inputs));
  T3_TRY(t3_malloc(gpu, layers * mlp->matrix_bytes, &mlp->products));
  T3_TRY(t3_malloc(gpu, mlp->matrix_bytes, &mlp->errors));
  T3_TRY(t3_malloc(gpu, mlp->matrix_bytes, &mlp->unscaled));
  return t3_malloc(gpu, row, &mlp->bias);
}

static struct t3_matrix matrix(const struct t3_mlp* mlp, uint64_t address, uint32_t rows) {
  return (struct t3_matrix){.address = address,
                            .row_stride = t3_dlrm_row_bytes(mlp->shape, mlp->element),
                            .rows = rows,
                            .columns = mlp->shape->width,
                            .element = mlp->element};
}

struct t3_matrix t3_mlp_input(const struct t3_mlp* mlp, uint32_t layer) {
  return matrix(mlp, mlp->inputs + layer * mlp->matrix_bytes, mlp->samples);
}

struct t3_matrix t3_mlp_error(const struct t3_mlp* mlp) {
  return matrix(mlp, mlp->errors, mlp->samples);
}

struct t3_matrix t3_mlp_rows(const struct t3_mlp* mlp, uint64_t address, uint32_t layers, uint32_t gpus) {
  const uint64_t row = t3_dlrm_shared_row_bytes(gpus);
  return (struct t3_matrix){.address = address,
                            .row_stride = row,
                            .rows = (uint32_t)(layers * mlp->layer_bytes / row),
                            .columns = (uint32_t)(row / t3_element_bytes(mlp->element)),
                            .element = mlp->element};
}

static struct t3_matrix product_of(const struct t3_mlp* mlp, uint32_t layer) {
  return matrix(mlp, mlp->products + layer * mlp->matrix_bytes, mlp->samples);
}

static struct t3_matrix of_layer(const struct t3_mlp* mlp, uint64_t all, uint32_t layer) {
  return matrix(mlp, all + (t3_dlrm_layers(mlp->shape) - 1 - layer) * mlp->layer_bytes, mlp->shape->width);
}

static float number_of(uint64_t kind, uint64_t row, uint64_t column) {
  const uint64_t hash = t3_embedding_mixed(t3_embedding_mixed(kind << 32 ^ row) + column);
  return (float)((int32_t)(hash >> 40) - (1 << 23)) * 0x1p-23f;
}

float t3_mlp_weight(const struct t3_dlrm* shape, uint32_t layer, uint32_t row, uint32_t column) {
  return number_of(1 + layer, row, column) / (float)shape->width;
}

float t3_mlp_dense(uint32_t sample, uint32_t column) { return number_of(0, sample, column); }

struct contents {
  const struct t3_mlp* mlp;
  uint32_t layer, first_sample;
};

static void write_weights(const void* argument, uint32_t gpu, float* values) {
  const struct contents* c = argument;
  const struct t3_dlrm* d = c->mlp->shape;
  (void)gpu;
  for (uint32_t row = 0; row < d->width; ++row)
    for (uint32_t column = 0; column < d->width; ++column)
      values[(uint64_t)row * d->width + column] = t3_mlp_weight(d, c->layer, row, column);
}

static void write_dense(const void* argument, uint32_t gpu, float* values) {
  const struct contents* c = argument;
  const uint32_t width = c->mlp->shape->width;
  (void)gpu;
  for (uint32_t row = 0; row < c->mlp->samples; ++row)
    for (uint32_t column = 0; column < width; ++column)
      values[(uint64_t)row * width + column] = t3_mlp_dense(c->first_sample + row, column);
}

static void publish(const struct t3_context* gpu, const char* name, const struct t3_matrix* matrix,
                    void (*function)(const void* argument, uint32_t gpu, float* values),
                    const struct contents* contents) {
  const struct t3_buffer buffer = {
      .name = name,
      .address = matrix->address,
      .row_stride = matrix->row_stride,
      .rows = matrix->rows,
      .columns = matrix->columns,
      .element = (uint32_t)matrix->element,
      .initial = {.kind = T3_CONTENTS_FUNCTION, .function = function, .argument = contents}};
  t3_hal_of(gpu)->publish(t3_hal_of(gpu)->platform, &buffer);
}

void t3_mlp_publish(const struct t3_context* gpu, const struct t3_mlp* mlp, uint32_t first_sample) {
  const struct t3_matrix dense = t3_mlp_input(mlp, 0);
  const struct contents first = {.mlp = mlp, .first_sample = first_sample};
  publish(gpu, "dense", &dense, write_dense, &first);
  for (uint32_t layer = 0; layer < t3_dlrm_layers(mlp->shape); ++layer) {
    char name[] = "weights000";
    t3_number_name(name, layer);
    const struct t3_matrix weights = of_layer(mlp, mlp->weights, layer);
    const struct contents contents = {.mlp = mlp, .layer = layer};
    publish(gpu, name, &weights, write_weights, &contents);
  }
}

enum t3_status t3_mlp_queue_forward(struct t3_context* gpu, const struct t3_mlp* mlp, uint32_t layer) {
  const struct t3_matrix input = t3_mlp_input(mlp, layer), weights = of_layer(mlp, mlp->weights, layer),
                         product = product_of(mlp, layer), output = t3_mlp_input(mlp, layer + 1),
                         bias = matrix(mlp, mlp->bias, 1);
  const struct t3_output out = {product, t3_dlrm_tiling(mlp->shape)};
  T3_TRY(t3_gemm(gpu, &out, &input, &weights, (struct t3_gemm_options){0}));
  return t3_rows(gpu, T3_ROWS_BIAS_GELU, &output, &product, &bias, NULL, (struct t3_row_options){0});
}

enum t3_status t3_mlp_queue_backward(struct t3_context* gpu, const struct t3_mlp* mlp, uint32_t layer) {
  const struct t3_matrix errors = t3_mlp_error(mlp), unscaled = matrix(mlp, mlp->unscaled, mlp->samples),
                         product = product_of(mlp, layer), input = t3_mlp_input(mlp, layer),
                         weights = of_layer(mlp, mlp->weights, layer), bias = matrix(mlp, mlp->bias, 1);
  const struct t3_output gradients = {of_layer(mlp, mlp->gradients, layer), t3_dlrm_gradient_tiling(mlp->shape)};
  const struct t3_output before = {errors, t3_dlrm_tiling(mlp->shape)};
  T3_TRY(t3_rows(gpu, T3_ROWS_BIAS_GELU_BACKWARD, &unscaled, &errors, &product, &bias, (struct t3_row_options){0}));
  T3_TRY(t3_gemm(gpu, &gradients, &input, &unscaled, (struct t3_gemm_options){.transpose_a = true}));
  return t3_gemm(gpu, &before, &unscaled, &weights, (struct t3_gemm_options){.transpose_b = true});
}
