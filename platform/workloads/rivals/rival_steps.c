#include "workloads/rivals/rival_steps.h"

enum { MASK_WORD = 64 };

/* The gemm's bytes follow the rival's. */
enum t3_status t3_rival_run_of(const struct t3_run* run, struct t3_rival_run* r) {
  *r = (struct t3_rival_run){0};
  T3_TRY(t3_rival_of(run, &r->rival));
  if (run->argument_bytes != T3_RIVALS_RUN_BYTES + T3_GEMM_WORKLOAD_BYTES) return T3_INVALID_ARGUMENT;
  r->gemm = t3_gemm_workload_from(run->arguments + T3_RIVALS_RUN_BYTES);
  return T3_OK;
}

/* Compute units `first` to `end` - 1. */
static struct t3_queue_options units(uint32_t first, uint32_t end) {
  struct t3_queue_options options = {0};
  for (uint32_t unit = first; unit < end; ++unit) options.cu_mask[unit / MASK_WORD] |= UINT64_C(1) << unit % MASK_WORD;
  return options;
}

static enum t3_status divide_units(struct t3_context* gpu, struct t3_rival_run* r) {
  const uint32_t all = r->rival.compute_units, apart = r->rival.communication_units;
  if (apart == 0) return T3_OK;
  T3_TRY(t3_queue_create(gpu, units(0, all - apart), &r->compute_queue));
  return t3_queue_create(gpu, units(all - apart, all), &r->communication_queue);
}

enum t3_status t3_prepare_rival(struct t3_context* gpu, struct t3_rival_run* r, enum t3_memory_kind out_memory) {
  T3_TRY(divide_units(gpu, r));
  T3_TRY(t3_allocate(gpu, &r->gemm, out_memory, &r->tensors));
  const struct t3_output* out = &r->tensors.out;
  r->grid = (struct t3_grid){out->matrix.rows,       out->matrix.columns,    out->tiling.rows,   out->tiling.columns,
                             out->tiling.wavefronts, out->matrix.row_stride, out->matrix.element};
  return T3_OK;
}

enum t3_status t3_open_second_queue(struct t3_context* gpu, struct t3_rival_run* r) {
  if (t3_sets_units_apart(r)) return T3_OK;
  return t3_queue_create(gpu, (struct t3_queue_options){.priority = 1}, &r->communication_queue);
}

struct t3_row_product t3_product_of_rows(const struct t3_rival_run* r, struct t3_row_run rows) {
  struct t3_row_product product = {r->tensors.out, r->tensors.a};
  product.out.matrix.address += rows.first * product.out.matrix.row_stride;
  product.a.address += rows.first * product.a.row_stride;
  product.out.matrix.rows = product.a.rows = rows.count;
  return product;
}

enum t3_status t3_launch_rows_gemm(struct t3_context* gpu, const struct t3_rival_run* r, struct t3_row_run rows,
                                   uint64_t into) {
  struct t3_row_product product = t3_product_of_rows(r, rows);
  struct t3_gemm_options options = t3_gemm_options_of(&r->gemm);
  options.group = r->rival.group;
  product.out.matrix.address = into + rows.first * product.out.matrix.row_stride;
  if (rows.count == 0) return T3_OK;
  return t3_launch_gemm(gpu, r->compute_queue, &product.out, &product.a, &r->tensors.b, options);
}

enum t3_status t3_rival_copy_queues(struct t3_context* gpu, const struct t3_rival_run* r, uint32_t* queues) {
  T3_TRY(t3_dma_copy_queues(gpu, queues));
  if (r->rival.copy_queues != 0 && r->rival.copy_queues < *queues) *queues = r->rival.copy_queues;
  return T3_OK;
}
