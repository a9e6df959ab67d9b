#include "call_errors.h"
#include "context_state.h"
#include "packets.h"
#include "t3/arguments/attention.h"
#include "t3/arguments/rows.h"
#include "wait.h"

static const char a_cached_matrix[] = "a T3_CACHED matrix of known kinds, rows less than 2^32 bytes apart",
                  an_operand[] = "a matrix with the columns and element type of out, and its rows or one",
                  an_operand_or_none[] = "as a, or NULL for an operation without it",
                  a_part[] = "a matrix with the rows, columns and element type of the output",
                  a_part_or_none[] = "NULL forward; backward as the output, rows of both equally far apart";

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
  if (t3_row_traits_of(operation) == NULL) return T3_REFUSE(context, "operation", "a member of enum t3_row_operation");
  if (out == NULL || !fits_rows(out, out) || out->memory == T3_UNCACHED)
    return T3_REFUSE(context, "out", a_cached_matrix); /* these kernels store through the cache */
  if (a == NULL || !fits_rows(a, out)) return T3_REFUSE(context, "a", an_operand);
  if (!fits_if_taken(b, out, takes(operation, T3_ROWS_B))) return T3_REFUSE(context, "b", an_operand_or_none);
  if (!fits_if_taken(c, out, takes(operation, T3_ROWS_C))) return T3_REFUSE(context, "c", an_operand_or_none);
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
  return T3_LOCKED(context, t3_submit(context, &submission));
}

static bool is_part(const struct t3_matrix* operand, const struct t3_matrix* out) {
  return operand != NULL && t3_is_operand(operand) && operand->rows == out->rows && operand->columns == out->columns &&
         operand->element == out->element;
}

enum t3_status t3_attention(struct t3_context* context, enum t3_attention_pass pass, const struct t3_output* output,
                            const struct t3_attention_operands* operands) {
  if (pass < T3_ATTENTION_FORWARD || pass > T3_ATTENTION_BACKWARD_KV)
    return T3_REFUSE(context, "pass", "a member of enum t3_attention_pass");
  if (output == NULL || !t3_is_valid(output)) return T3_REFUSE(context, "output", T3_VALID_OUTPUT);
  if (output->matrix.memory == T3_UNCACHED) return T3_REFUSE(context, "output", a_cached_matrix);
  if (operands == NULL) return T3_REFUSE(context, "operands", "the matrices of the pass");
  const struct t3_matrix *out = &output->matrix, *gradient = operands->gradient, *result = operands->result;
  const bool forward = pass == T3_ATTENTION_FORWARD;
  if (!is_part(operands->qkv, out)) return T3_REFUSE(context, "operands->qkv", a_part);
  if (forward ? gradient != NULL : !is_part(gradient, out))
    return T3_REFUSE(context, "operands->gradient", a_part_or_none);
  if (forward ? result != NULL : !is_part(result, out) || gradient->row_stride != result->row_stride)
    return T3_REFUSE(context, "operands->result", a_part_or_none);
  struct t3_submission submission = t3_submission_of("attention", T3_ATTENTION_ARGUMENTS_BYTES);
  const uint32_t tiles_down = (out->rows - 1) / output->tiling.rows + 1;
  if (!t3_is_batch(&operands->batch, tiles_down, &submission.packet.workgroups))
    return T3_REFUSE(context, "operands->batch", T3_VALID_BATCH);
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
  return T3_LOCKED(context, t3_submit(context, &submission));
}
