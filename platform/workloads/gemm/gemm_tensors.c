#include "workloads/gemm/gemm_tensors.h"

#include "t3/arguments/copy.h"
#include "workloads/gemm/gemm_following.h"

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
  return w->following == T3_FOLLOWING_NONE ? T3_OK : t3_allocate_following(context, w, operands);
}

static struct t3_grid grid_of(const struct t3_output* out) {
  const struct t3_matrix* m = &out->matrix;
  return (struct t3_grid){m->rows,       m->columns, out->tiling.rows, out->tiling.columns, out->tiling.wavefronts,
                          m->row_stride, m->element};
}

/* What is gathered alone has been scattered in chunks of tiles. */
static struct t3_collective collective_of(const struct t3_gemm_workload* w, const struct t3_output* out,
                                          enum t3_collective_op op) {
  const enum t3_collective_algorithm algorithm = (enum t3_collective_algorithm)w->algorithm;
  const struct t3_matrix* m = &out->matrix;
  struct t3_collective c = {.op = op,
                            .algorithm = algorithm,
                            .element = m->element,
                            .gpus_per_node = algorithm == T3_HIERARCHICAL ? w->gpus_per_node : 0,
                            .gpus_per_row = w->gpus_per_row};
  if (op == T3_ALL_GATHER)
    c.output = (struct t3_gathered_output){grid_of(out), w->scattered_nodes};
  else
    c.elements = m->rows * (m->row_stride / t3_element_bytes(m->element));
  for (uint32_t d = 0; d < T3_TORUS_DIMENSIONS_MAX; ++d) c.dimensions[d] = w->dimensions[d];
  return c;
}

static enum t3_status prepare_kernels(struct t3_context* context, const struct t3_gemm_workload* w,
                                      const struct t3_output* out, enum t3_collective_op op,
                                      struct t3_flat_collective* kernels) {
  kernels->collective = collective_of(w, out, op);
  kernels->out = out->matrix.address;
  T3_TRY(t3_fit_flat_counters(context, &kernels->collective, w->near_memory ? 1 : 0));
  return t3_prepare_flat(context, kernels);
}

enum t3_status t3_prepare_collectives(struct t3_context* context, const struct t3_gemm_workload* w,
                                      const struct t3_output* out, enum t3_collective_op op, struct t3_matrix* staging,
                                      struct t3_gemm_collectives* collectives) {
  *collectives = (struct t3_gemm_collectives){.w = w, .out = out};
  if (w->near_memory) op = T3_ALL_GATHER;
  if (w->by_steps) return prepare_kernels(context, w, out, op, &collectives->kernels);
  if (op == T3_ALL_GATHER) return T3_OK;
  *staging = out->matrix;
  collectives->staging = staging;
  return t3_matrix_malloc(context, staging);
}

static enum t3_status queue_reduce_scatter(struct t3_context* context, struct t3_gemm_collectives* collectives,
                                           const struct t3_output* out) {
  const struct t3_gemm_workload* w = collectives->w;
  if (!w->by_steps || w->near_memory) return t3_ring_reduce_scatter(context, out, collectives->staging);
  if (w->algorithm == T3_IN_NETWORK) {
    T3_TRY(t3_flush_cache(context)); /* the switch asks all GPUs' memories */
    T3_TRY(t3_barrier(context));
  }
  return t3_queue_flat(context, &collectives->kernels, T3_REDUCE_SCATTER, 0);
}

enum t3_status t3_scatter_sums(struct t3_context* context, struct t3_gemm_collectives* collectives,
                               const struct t3_output* out) {
  t3_begin(context, "reduce_scatter");
  T3_TRY(queue_reduce_scatter(context, collectives, out));
  T3_TRY(t3_wait_kernels(context));
  t3_end(context, "reduce_scatter");
  return T3_OK;
}

enum t3_status t3_gather_all(struct t3_context* context, struct t3_gemm_collectives* collectives) {
  if (collectives->w->arbitration_ends) T3_TRY(t3_set_arbitration(context, T3_ROUND_ROBIN, 0));
  t3_begin(context, "all_gather");
  T3_TRY(collectives->w->by_steps ? t3_queue_flat(context, &collectives->kernels, T3_ALL_GATHER, 1)
                                  : t3_ring_all_gather(context, collectives->out));
  T3_TRY(t3_wait_kernels(context));
  t3_end(context, "all_gather");
  return T3_OK;
}

/* The driver's own fill would write the lines back. */
enum t3_status t3_dirty_cache(struct t3_context* context, const struct t3_gemm_workload* w) {
  if (w->dirty_bytes == 0) return T3_OK;
  struct t3_copy_arguments fill = {
      .bytes = w->dirty_bytes, .gpu = t3_gpu(context), .operation = T3_COPY_ARGUMENTS_OPERATION_FILL};
  T3_TRY(t3_malloc(context, w->dirty_bytes, &fill.to));
  unsigned char bytes[T3_COPY_ARGUMENTS_BYTES];
  t3_copy_arguments_to(&fill, bytes);
  T3_TRY(t3_run_kernel(context, "copy", bytes, sizeof bytes, (struct t3_kernel_options){0}));
  return t3_wait_kernels(context);
}

struct t3_gemm_options t3_gemm_options_of(const struct t3_gemm_workload* w) {
  return (struct t3_gemm_options){.transpose_b = w->transpose_b,
                                  .group = w->group,
                                  .group_columns = w->group_columns,
                                  .max_compute_units = w->max_compute_units,
                                  .stages = w->stages,
                                  .step_ns = w->step_ns,
                                  .store_bytes = w->store_bytes,
                                  .persistent_workgroups = w->persistent_workgroups};
}

struct t3_tiling t3_gemm_tiling(const struct t3_gemm_workload* w) {
  return (struct t3_tiling){.rows = w->tile_rows, .columns = w->tile_columns, .wavefronts = w->wavefronts};
}

struct t3_dma_options t3_gemm_dma_options(const struct t3_gemm_workload* w) {
  return (struct t3_dma_options){.updates = w->updates, .block_tiles = w->block_tiles};
}
