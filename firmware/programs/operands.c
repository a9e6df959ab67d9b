#include "operands.h"

enum t3_status t3_set_up(struct t3_context* context, const struct t3_hal* hal, const struct t3_job* job) {
  T3_TRY(t3_init(context, hal));
  if (job->ring_workgroups != 0) T3_TRY(t3_set_ring_workgroups(context, job->ring_workgroups));
  return t3_set_arbitration(context, job->arbitration, job->arbitration_limit);
}

static void publish(const struct t3_context* context, const char* name, const struct t3_matrix* matrix) {
  const struct t3_buffer buffer = {.name = name,
                                   .address = matrix->address,
                                   .row_stride = matrix->row_stride,
                                   .rows = matrix->rows,
                                   .columns = matrix->columns,
                                   .element = (uint32_t)matrix->element};
  context->hal->publish(context->hal->platform, &buffer);
}

enum t3_status t3_allocate(struct t3_context* context, const struct t3_job* job, enum t3_memory_kind out_memory,
                           struct t3_operands* operands) {
  const enum t3_element element = job->element;
  operands->a = (struct t3_matrix){.rows = job->m, .columns = job->k, .element = element};
  operands->b = (struct t3_matrix){
      .rows = job->transpose_b ? job->n : job->k, .columns = job->transpose_b ? job->k : job->n, .element = element};
  operands->out = (struct t3_output){
      .matrix = {.rows = job->m, .columns = job->n, .element = element, .memory = out_memory}, .tiling = job->tiling};
  T3_TRY(t3_matrix_malloc(context, &operands->a));
  T3_TRY(t3_matrix_malloc(context, &operands->b));
  struct t3_matrix* out = &operands->out.matrix;
  out->rows *= t3_fused_slabs(job->fused, context->gpus);
  T3_TRY(t3_matrix_malloc(context, out));
  publish(context, "a", &operands->a);
  publish(context, "b", &operands->b);
  publish(context, "out", out);
  if (out->rows != job->m) out->address += context->gpu * job->m * out->row_stride;
  out->rows = job->m;
  return T3_OK;
}

enum t3_status t3_write_zeros(struct t3_context* context, uint64_t address, uint64_t bytes) {
  static const unsigned char zeros[4096];
  for (uint64_t at = 0; at < bytes; at += sizeof zeros)
    T3_TRY(
        context->hal->write_memory(context->hal->platform, address + at, zeros, t3_at_most(bytes - at, sizeof zeros)));
  context->hal->order_writes(context->hal->platform);
  return T3_OK;
}

enum t3_status t3_hand_over(struct t3_context* context) {
  t3_begin(context, "hand_over");
  T3_TRY(t3_flush_cache(context));
  t3_end(context, "hand_over");
  return T3_OK;
}

enum t3_status t3_gather_all(struct t3_context* context, const struct t3_job* job, const struct t3_output* out) {
  if (job->arbitration_ends) T3_TRY(t3_set_arbitration(context, T3_ROUND_ROBIN, 0));
  t3_begin(context, "all_gather");
  T3_TRY(t3_ring_all_gather(context, out));
  T3_TRY(t3_wait_kernels(context));
  t3_end(context, "all_gather");
  return T3_OK;
}

struct t3_gemm_options t3_gemm_options_of(const struct t3_job* job) {
  return (struct t3_gemm_options){.transpose_b = job->transpose_b, .max_compute_units = job->max_compute_units};
}
