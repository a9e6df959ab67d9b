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

static struct t3_collective collective_of(const struct t3_gemm_workload* w, const struct t3_matrix* out,
                                          enum t3_collective_op op) {
  const enum t3_collective_algorithm algorithm = (enum t3_collective_algorithm)w->algorithm;
  struct t3_collective c = {.op = op,
                            .algorithm = algorithm,
                            .element = out->element,
                            .elements = out->rows * (out->row_stride / t3_element_bytes(out->element)),
                            .gpus_per_node = algorithm == T3_HIERARCHICAL ? w->gpus_per_node : 0,
                            .gpus_per_row = w->gpus_per_row};
  for (uint32_t d = 0; d < T3_TORUS_DIMENSIONS_MAX; ++d) c.dimensions[d] = w->dimensions[d];
  return c;
}

enum t3_status t3_prepare_collectives(struct t3_context* context, const struct t3_gemm_workload* w,
                                      const struct t3_output* out, enum t3_collective_op op, struct t3_matrix* staging,
                                      struct t3_gemm_collectives* collectives) {
  *collectives = (struct t3_gemm_collectives){.w = w, .out = out};
  if (w->by_flat) {
    collectives->flat.collective = collective_of(w, &out->matrix, op);
    collectives->flat.out = out->matrix.address;
    T3_TRY(t3_fit_flat_counters(context, &collectives->flat.collective));
    return t3_prepare_flat(context, &collectives->flat);
  }
  if (op == T3_ALL_GATHER || w->near_memory) return T3_OK;
  *staging = out->matrix;
  collectives->staging = staging;
  return t3_matrix_malloc(context, staging);
}

enum t3_status t3_scatter_sums(struct t3_context* context, struct t3_gemm_collectives* collectives,
                               const struct t3_output* out) {
  t3_begin(context, "reduce_scatter");
  if (collectives->w->by_flat && collectives->w->algorithm == T3_IN_NETWORK) {
    T3_TRY(t3_flush_cache(context)); /* the switch asks all GPUs' memories */
    T3_TRY(t3_barrier(context));
  }
  T3_TRY(collectives->w->by_flat ? t3_queue_flat(context, &collectives->flat, T3_REDUCE_SCATTER, 0)
                                 : t3_ring_reduce_scatter(context, out, collectives->staging));
  T3_TRY(t3_wait_kernels(context));
  t3_end(context, "reduce_scatter");
  return T3_OK;
}

enum t3_status t3_gather_all(struct t3_context* context, struct t3_gemm_collectives* collectives) {
  if (collectives->w->arbitration_ends) T3_TRY(t3_set_arbitration(context, T3_ROUND_ROBIN, 0));
  t3_begin(context, "all_gather");
  T3_TRY(collectives->w->by_flat ? t3_queue_flat(context, &collectives->flat, T3_ALL_GATHER, 1)
                                 : t3_ring_all_gather(context, collectives->out));
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
