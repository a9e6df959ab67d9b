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

enum t3_status t3_prepare_rival(struct t3_context* gpu, struct t3_rival_run* r) {
  T3_TRY(divide_units(gpu, r));
  T3_TRY(t3_allocate(gpu, &r->gemm, T3_UNCACHED, &r->tensors));
  const struct t3_output* out = &r->tensors.out;
  r->grid = (struct t3_grid){out->matrix.rows,       out->matrix.columns,    out->tiling.rows,   out->tiling.columns,
                             out->tiling.wavefronts, out->matrix.row_stride, out->matrix.element};
  return T3_OK;
}
