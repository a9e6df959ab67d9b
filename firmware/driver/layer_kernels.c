#include "context_state.h"
#include "packets.h"
#include "t3/arguments/attention.h"
#include "t3/arguments/rows.h"

/* Row stride of an operand as the packet has it: 0 says that one row serves all. */
static uint32_t stride_of(const struct t3_matrix* operand, const struct t3_matrix* out) {
  return operand->rows == 1 && out->rows != 1 ? 0 : (uint32_t)operand->row_stride;
}

static bool fits_rows(const struct t3_matrix* operand, const struct t3_matrix* out) {
  return t3_is_operand(operand) && (operand->rows == out->rows || operand->rows == 1) &&
         operand->columns == out->columns && operand->element == out->element;
}

static bool takes(enum t3_row_operation operation, enum t3_row_operand operand) {
  return t3_row_traits_of(operation)->reads >> operand & 1;
}

/* An operand is there when the operation takes it, and only then. */
static bool fits_if_taken(const struct t3_matrix* operand, const struct t3_matrix* out, bool taken) {
  return taken ? operand != NULL && fits_rows(operand, out) : operand == NULL;
}

enum t3_status t3_rows(struct t3_context* context, enum t3_row_operation operation, const struct t3_matrix* out,
                       const struct t3_matrix* a, const struct t3_matrix* b, const struct t3_matrix* c,
                       struct t3_row_options options) {
  if (!t3_is_open(context) || out == NULL || a == NULL || t3_row_traits_of(operation) == NULL)
    return T3_INVALID_ARGUMENT;
  if (!fits_rows(out, out) || !fits_rows(a, out) || !fits_if_taken(b, out, takes(operation, T3_ROWS_B)) ||
      !fits_if_taken(c, out, takes(operation, T3_ROWS_C)))
    return T3_INVALID_ARGUMENT;
  if (out->memory == T3_UNCACHED) return T3_INVALID_ARGUMENT; /* these kernels store through the cache */
  struct t3_submission submission = t3_submission_of("rows", T3_ROWS_ARGUMENTS_BYTES);
  const struct t3_rows_arguments arguments = {.out = out->address,
                                              .a = a->address,
                                              .b = b == NULL ? 0 : b->address,
                                              .c = c == NULL ? 0 : c->address,
                                              .m = out->rows,
                                              .n = out->columns,
                                              .ldo = (uint32_t)out->row_stride,
                                              .lda = stride_of(a, out),
                                              .ldb = b == NULL ? 0 : stride_of(b, out),
                                              .ldc = c == NULL ? 0 : stride_of(c, out),
                                              .factor = options.factor,
                                              .seed = options.seed,
                                              .element = (uint8_t)out->element,
                                              .operation = (uint8_t)operation};
  t3_rows_arguments_to(&arguments, submission.arguments);
  return t3_submit(context, &submission);
}

static bool is_part(const struct t3_matrix* operand, const struct t3_matrix* out) {
  return operand != NULL && t3_is_operand(operand) && operand->rows == out->rows && operand->columns == out->columns &&
         operand->element == out->element;
}

enum t3_status t3_attention(struct t3_context* context, enum t3_attention_pass pass, const struct t3_output* output,
                            const struct t3_attention_operands* operands) {
  if (!t3_is_open(context) || output == NULL || operands == NULL || !t3_is_valid(output)) return T3_INVALID_ARGUMENT;
  const struct t3_matrix *out = &output->matrix, *gradient = operands->gradient, *result = operands->result;
  if (pass < T3_ATTENTION_FORWARD || pass > T3_ATTENTION_BACKWARD_KV || !is_part(operands->qkv, out))
    return T3_INVALID_ARGUMENT;
  if (out->memory == T3_UNCACHED) return T3_INVALID_ARGUMENT;
  const bool forward = pass == T3_ATTENTION_FORWARD;
  if (forward && (gradient != NULL || result != NULL)) return T3_INVALID_ARGUMENT;
  if (!forward && (!is_part(gradient, out) || !is_part(result, out) || gradient->row_stride != result->row_stride))
    return T3_INVALID_ARGUMENT;
  struct t3_submission submission = t3_submission_of("attention", T3_ATTENTION_ARGUMENTS_BYTES);
  const uint32_t tiles_down = (out->rows - 1) / output->tiling.rows + 1;
  if (!t3_is_batch(&operands->batch, tiles_down, &submission.packet.workgroups)) return T3_INVALID_ARGUMENT;
  const struct t3_attention_arguments arguments = {.out = out->address,
                                                   .qkv = operands->qkv->address,
                                                   .gradient = forward ? 0 : gradient->address,
                                                   .result = forward ? 0 : result->address,
                                                   .m = out->rows,
                                                   .n = out->columns,
                                                   .ldo = (uint32_t)out->row_stride,
                                                   .ld_qkv = (uint32_t)operands->qkv->row_stride,
                                                   .ld_gradient = forward ? 0 : (uint32_t)gradient->row_stride,
                                                   .out_batch = operands->batch.out_stride,
                                                   .qkv_batch = operands->batch.a_stride,
                                                   .gradient_batch = operands->batch.b_stride,
                                                   .factor = operands->factor,
                                                   .tile_rows = (uint16_t)output->tiling.rows,
                                                   .tile_columns = (uint16_t)output->tiling.columns,
                                                   .batches = (uint16_t)operands->batch.matrices,
                                                   .element = (uint8_t)out->element,
                                                   .pass = (uint8_t)pass};
  t3_attention_arguments_to(&arguments, submission.arguments);
  return t3_submit(context, &submission);
}
