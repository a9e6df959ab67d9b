#include <stddef.h>

#include "workloads/layer/layer_layout.h"
#include "workloads/shared/program_steps.h"

/* The operand with its place in memory; NULL when the operation has none. */
static const struct t3_matrix* placed(const struct t3_operand* operand, const uint64_t* addresses,
                                      struct t3_matrix* matrix) {
  if (!operand->used) return NULL;
  *matrix = operand->matrix;
  matrix->address += addresses[operand->tensor];
  return matrix;
}

static enum t3_status submit(struct t3_context* gpu, const struct t3_layer_operation* operation,
                             const uint64_t* addresses) {
  struct t3_matrix matrices[3];
  const struct t3_matrix* a = placed(&operation->a, addresses, &matrices[0]);
  const struct t3_matrix* b = placed(&operation->b, addresses, &matrices[1]);
  const struct t3_matrix* c = placed(&operation->c, addresses, &matrices[2]);
  struct t3_output out = {.tiling = operation->tiling};
  placed(&operation->out, addresses, &out.matrix);
  if (operation->kernel == T3_LAYER_ROWS)
    return t3_rows(gpu, operation->rows, &out.matrix, a, b, c, operation->options);
  if (operation->kernel == T3_LAYER_ATTENTION) {
    const struct t3_attention_operands operands = {
        .qkv = a, .gradient = b, .result = c, .batch = operation->batch, .factor = operation->options.factor};
    return t3_attention(gpu, operation->pass, &out, &operands);
  }
  const struct t3_gemm_options options = {
      .transpose_a = operation->transpose_a, .transpose_b = operation->transpose_b, .batch = operation->batch};
  return t3_gemm(gpu, &out, a, b, options);
}

static enum t3_status allocate(struct t3_context* gpu, const struct t3_layer* layer, uint64_t* addresses) {
  for (uint32_t i = 0; i < layer->tensor_count; ++i) {
    const struct t3_layer_tensor* tensor = t3_layer_tensor_at(layer, i);
    T3_TRY(t3_malloc(gpu, tensor->bytes, &addresses[i]));
    const struct t3_buffer buffer = {.name = t3_layer_name(layer, tensor),
                                     .address = addresses[i],
                                     .row_stride = tensor->bytes,
                                     .rows = 1,
                                     .columns = (uint32_t)(tensor->bytes / (tensor->element == T3_FP32 ? 4 : 2)),
                                     .element = (uint32_t)tensor->element};
    t3_hal_of(gpu)->publish(t3_hal_of(gpu)->platform, &buffer);
  }
  return T3_OK;
}

/* Every operation is timed by itself, as the phases of the other programs are. */
static enum t3_status run_operations(struct t3_context* gpu, const struct t3_layer* layer, const uint64_t* addresses) {
  for (uint32_t i = 0; i < layer->operation_count; ++i) {
    const struct t3_layer_operation* operation = t3_layer_operation_at(layer, i);
    t3_begin(gpu, "operation");
    T3_TRY(submit(gpu, operation, addresses));
    T3_TRY(t3_wait_kernels(gpu));
    t3_end(gpu, "operation");
  }
  return T3_OK;
}

enum t3_status t3_run_layer(const struct t3_hal* hal, const struct t3_run* run) {
  struct t3_context context = {0};
  struct t3_layer layer;
  uint64_t addresses[T3_LAYER_TENSORS_MAX];
  T3_TRY(t3_layer_of(run, &layer));
  T3_TRY(t3_set_up(&context, hal, run));
  t3_begin(&context, "setup");
  T3_TRY(allocate(&context, &layer, addresses));
  t3_end(&context, "setup");

  t3_begin(&context, "total");
  T3_TRY(run_operations(&context, &layer, addresses));
  t3_end(&context, "total");
  T3_TRY(t3_hand_over(&context));
  return t3_close(&context);
}
