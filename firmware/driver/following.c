#include "t3/following.h"

#include <math.h>
#include <string.h>

#include "context_state.h"
#include "matrices.h"
#include "packets.h"
#include "registers.h"
#include "t3/registers/near_memory.h"
#include "wait.h"

static const char as_output[] = "the output's shape, row stride and element type";

static bool drops(const struct t3_following* following) { return following->keep != 0 && following->keep != 1; }

static uint32_t operations_of(const struct t3_following* following) {
  return (uint32_t)(following->bias != NULL) << T3_NEAR_MEMORY_FOLLOW_OPERATION_BIAS_SHIFT |
         (uint32_t)drops(following) << T3_NEAR_MEMORY_FOLLOW_OPERATION_DROPOUT_SHIFT |
         (uint32_t)(following->residual != NULL) << T3_NEAR_MEMORY_FOLLOW_OPERATION_RESIDUAL_SHIFT |
         (uint32_t)(following->adam != NULL) << T3_NEAR_MEMORY_FOLLOW_OPERATION_ADAM_SHIFT;
}

static bool is_laid_out_as(const struct t3_matrix* matrix, const struct t3_matrix* out) {
  return t3_fits(matrix, out->rows, out->columns, out->element) && matrix->row_stride == out->row_stride;
}

/* Whether two matrices of the same size share bytes. */
static bool overlap(const struct t3_matrix* one, const struct t3_matrix* other) {
  const uint64_t apart = one->address < other->address ? other->address - one->address : one->address - other->address;
  return apart < one->rows * one->row_stride;
}

static enum t3_status check(struct t3_context* context, const struct t3_output* output,
                            const struct t3_following* following) {
  const struct t3_matrix* out = output == NULL ? NULL : &output->matrix;
  if (out == NULL || !t3_is_valid(output)) return t3_at_fault(context, "output", T3_VALID_OUTPUT);
  if (operations_of(following) == 0) return t3_at_fault(context, "following", "a bias, a residual, a dropout or adam");
  if (following->adam != NULL &&
      (following->bias != NULL || following->residual != NULL || drops(following) || !isfinite(following->adam->rate)))
    return t3_at_fault(context, "following.adam", "a finite rate, and no other operation");
  if (!(following->keep >= 0 && following->keep <= 1)) return t3_at_fault(context, "following.keep", "0 to 1");
  if (following->bias != NULL && !t3_fits(following->bias, 1, out->columns, out->element))
    return t3_at_fault(context, "following.bias", "a row of the output's columns and element type");
  if (following->residual != NULL && !is_laid_out_as(following->residual, out))
    return t3_at_fault(context, "following.residual", as_output);
  const struct t3_adam* adam = following->adam;
  if (adam == NULL) return T3_OK;
  if (adam->means == NULL || !is_laid_out_as(adam->means, out))
    return t3_at_fault(context, "following.adam->means", as_output);
  if (adam->squares == NULL || !is_laid_out_as(adam->squares, out))
    return t3_at_fault(context, "following.adam->squares", as_output);
  if (adam->weights == NULL || !is_laid_out_as(adam->weights, out))
    return t3_at_fault(context, "following.adam->weights", as_output);
  if (overlap(out, adam->means) || overlap(out, adam->squares) || overlap(out, adam->weights) ||
      overlap(adam->means, adam->squares) || overlap(adam->means, adam->weights) ||
      overlap(adam->squares, adam->weights))
    return t3_at_fault_as(context, T3_OVERLAP, "following.adam",
                          "matrices that share no bytes with the output or each other");
  return T3_OK;
}

static enum t3_status check_place(struct t3_context* context, const char* name, const struct t3_matrix* matrix) {
  if (matrix == NULL) return T3_OK;
  if (matrix->address % 32 != 0)
    return t3_at_fault_as(context, T3_UNALIGNED, name, "an address that is a multiple of 32");
  return t3_is_own_matrix(context, matrix)
             ? T3_OK
             : t3_at_fault_as(context, T3_BAD_ADDRESS, name, "bytes within this GPU's memory");
}

static uint32_t bits_of(float value) {
  uint32_t bits = 0;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static void put_adam(struct t3_registers* r, const struct t3_adam* adam) {
  t3_put64(r, T3_NEAR_MEMORY_FOLLOW_MEANS_OFFSET, adam->means->address);
  t3_put64(r, T3_NEAR_MEMORY_FOLLOW_SQUARES_OFFSET, adam->squares->address);
  t3_put64(r, T3_NEAR_MEMORY_FOLLOW_WEIGHTS_OFFSET, adam->weights->address);
  t3_put32(r, T3_NEAR_MEMORY_FOLLOW_RATE_OFFSET, bits_of(adam->rate));
}

static enum t3_status follow(struct t3_context* context, const struct t3_output* output, struct t3_chunk chunk,
                             const struct t3_following* following) {
  T3_TRY(check(context, output, following));
  const struct t3_matrix* out = &output->matrix;
  T3_TRY(check_place(context, "output", out));
  T3_TRY(check_place(context, "following.bias", following->bias));
  T3_TRY(check_place(context, "following.residual", following->residual));
  if (following->adam != NULL) {
    T3_TRY(check_place(context, "following.adam->means", following->adam->means));
    T3_TRY(check_place(context, "following.adam->squares", following->adam->squares));
    T3_TRY(check_place(context, "following.adam->weights", following->adam->weights));
  }
  if (out->row_stride % 32 != 0)
    return t3_at_fault_as(context, T3_UNALIGNED, "output", "a row stride that is a multiple of 32");
  struct t3_registers r = t3_own_block(context, T3_BLOCK_NEAR_MEMORY);
  t3_put32(&r, T3_NEAR_MEMORY_FOLLOW_OPERATION_OFFSET, 0);
  t3_put64(&r, T3_NEAR_MEMORY_FOLLOW_OUTPUT_OFFSET, out->address);
  t3_put64(&r, T3_NEAR_MEMORY_FOLLOW_BYTES_OFFSET, out->rows * out->row_stride);
  t3_put64(&r, T3_NEAR_MEMORY_FOLLOW_STRIDE_OFFSET, out->row_stride);
  if (following->bias != NULL) t3_put64(&r, T3_NEAR_MEMORY_FOLLOW_BIAS_OFFSET, following->bias->address);
  if (following->residual != NULL) t3_put64(&r, T3_NEAR_MEMORY_FOLLOW_RESIDUAL_OFFSET, following->residual->address);
  t3_put32(&r, T3_NEAR_MEMORY_FOLLOW_FIRST_OFFSET, chunk.first_workgroup);
  t3_put32(&r, T3_NEAR_MEMORY_FOLLOW_WORKGROUPS_OFFSET, chunk.workgroups);
  t3_put32(&r, T3_NEAR_MEMORY_FOLLOW_KEEP_OFFSET, bits_of(drops(following) ? following->keep : 1));
  t3_put32(&r, T3_NEAR_MEMORY_FOLLOW_SEED_OFFSET, following->seed);
  if (following->adam != NULL) put_adam(&r, following->adam);
  t3_put32(&r, T3_NEAR_MEMORY_FOLLOW_OPERATION_OFFSET, operations_of(following));
  return r.status;
}

enum t3_status t3_follow(struct t3_context* context, const struct t3_output* output, struct t3_chunk chunk,
                         struct t3_following following) {
  return T3_LOCKED(context, follow(context, output, chunk, &following));
}

static enum t3_status stop(struct t3_context* context) {
  struct t3_registers r = t3_own_block(context, T3_BLOCK_NEAR_MEMORY);
  t3_put32(&r, T3_NEAR_MEMORY_FOLLOW_OPERATION_OFFSET, 0);
  return r.status;
}

enum t3_status t3_stop_following(struct t3_context* context) { return T3_LOCKED(context, stop(context)); }
