#include "workloads/gemm/gemm_tensors.h"

enum t3_status t3_allocate(struct t3_context* context, const struct t3_gemm_workload* w, enum t3_memory_kind out_memory,
                           struct t3_operands* operands) {
  const enum t3_element element = w->element;
  operands->a = (struct t3_matrix){.rows = w->m, .columns = w->k, .element = element};
  operands->b = (struct t3_matrix){
      .rows = w->transpose_b ? w->n : w->k, .columns = w->transpose_b ? w->k : w->n, .element = element};
  operands->out = (struct t3_output){
      .matrix = {.rows = w->m, .columns = w->n, .element = element, .memory = out_memory}, .tiling = t3_gemm_tiling(w)};
  T3_TRY(t3_matrix_malloc(context, &operands->a));
  T3_TRY(t3_matrix_malloc(context, &operands->b));
  struct t3_matrix* out = &operands->out.matrix;
  out->rows *= t3_fused_slabs(w->fused, t3_gpus(context));
  T3_TRY(t3_matrix_malloc(context, out));
  t3_publish(context, "a", &operands->a);
  t3_publish(context, "b", &operands->b);
  t3_publish(context, "out", out);
  if (out->rows != w->m) out->address += t3_gpu(context) * w->m * out->row_stride;
  out->rows = w->m;
  return T3_OK;
}

enum t3_status t3_gather_all(struct t3_context* context, const struct t3_gemm_workload* w,
                             const struct t3_output* out) {
  if (w->arbitration_ends) T3_TRY(t3_set_arbitration(context, T3_ROUND_ROBIN, 0));
  t3_begin(context, "all_gather");
  T3_TRY(t3_ring_all_gather(context, out));
  T3_TRY(t3_wait_kernels(context));
  t3_end(context, "all_gather");
  return T3_OK;
}

struct t3_gemm_options t3_gemm_options_of(const struct t3_gemm_workload* w) {
  return (struct t3_gemm_options){.transpose_b = w->transpose_b, .max_compute_units = w->max_compute_units};
}

struct t3_tiling t3_gemm_tiling(const struct t3_gemm_workload* w) {
  return (struct t3_tiling){.rows = w->tile_rows, .columns = w->tile_columns, .wavefronts = w->wavefronts};
}

struct t3_dma_options t3_gemm_dma_options(const struct t3_gemm_workload* w) {
  return (struct t3_dma_options){.updates = w->updates, .block_tiles = w->block_tiles};
}
