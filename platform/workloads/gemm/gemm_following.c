#include "workloads/gemm/gemm_following.h"

#include "t3/following.h"

static bool has_residual(const struct t3_gemm_workload* w) { return w->following != T3_FOLLOWING_DROPOUT; }

enum t3_status t3_allocate_following(struct t3_context* context, const struct t3_gemm_workload* w,
                                     struct t3_operands* operands) {
  operands->bias = (struct t3_matrix){.rows = 1, .columns = w->n, .element = w->element};
  operands->residual = (struct t3_matrix){.rows = w->m, .columns = w->n, .element = w->element};
  T3_TRY(t3_matrix_malloc(context, &operands->bias));
  T3_TRY(t3_matrix_malloc(context, &operands->residual));
  t3_publish(context, "bias", &operands->bias);
  t3_publish(context, "residual", &operands->residual);
  return T3_OK;
}

enum t3_status t3_follow_near_memory(struct t3_context* context, const struct t3_gemm_workload* w,
                                     const struct t3_operands* operands) {
  const struct t3_chunk own = t3_chunk_of(&operands->out, t3_gpu(context), t3_gpus(context));
  struct t3_following following = {.seed = T3_FOLLOWING_SEED};
  if (w->following == T3_FOLLOWING_NONE || own.workgroups == 0) return T3_OK;
  if (has_residual(w)) following.residual = &operands->residual;
  if (w->following != T3_FOLLOWING_RESIDUAL) following.keep = t3_following_keep();
  if (w->following == T3_FOLLOWING_ALL) following.bias = &operands->bias;
  return t3_follow(context, &operands->out, own, following);
}

static enum t3_status queue(struct t3_context* context, const struct t3_gemm_workload* w,
                            const struct t3_operands* operands) {
  const struct t3_row_options options = {t3_following_keep(), T3_FOLLOWING_SEED};
  const struct t3_matrix* out = &operands->out.matrix;
  if (w->following == T3_FOLLOWING_RESIDUAL)
    return t3_rows(context, T3_ROWS_ADD, out, out, &operands->residual, NULL, options);
  if (w->following == T3_FOLLOWING_DROPOUT) return t3_rows(context, T3_ROWS_DROPOUT, out, out, NULL, NULL, options);
  return t3_rows(context, T3_ROWS_BIAS_DROPOUT_ADD, out, out, &operands->bias, &operands->residual, options);
}

enum t3_status t3_follow_by_kernel(struct t3_context* context, const struct t3_gemm_workload* w,
                                   const struct t3_operands* operands) {
  if (w->following == T3_FOLLOWING_NONE) return T3_OK;
  t3_begin(context, "following");
  T3_TRY(queue(context, w, operands));
  T3_TRY(t3_wait_kernels(context));
  t3_end(context, "following");
  return T3_OK;
}
