#include "workloads/gemm/gemm_tensors.h"

/* When the next phase is timed, nothing of the previous one is left in the cache or in flight. */
static enum t3_status settle(struct t3_context* gpu) {
  T3_TRY(t3_flush_cache(gpu));
  return t3_barrier(gpu);
}

static enum t3_status gemm(struct t3_context* gpu, const struct t3_gemm_workload* w, const struct t3_operands* t) {
  t3_begin(gpu, "gemm");
  struct t3_gemm_options options = t3_gemm_options_of(w);
  options.split_k = w->split_k;
  options.update = w->split_k > 1;
  T3_TRY(t3_gemm(gpu, &t->out, &t->a, &t->b, options));
  T3_TRY(t3_wait_kernels(gpu));
  t3_end(gpu, "gemm");
  return w->skip_reduce_scatter && w->skip_all_gather ? T3_OK
                                                      : settle(gpu); /* alone, its output may stay in the cache */
}

static enum t3_status reduce_scatter(struct t3_context* gpu, const struct t3_gemm_workload* w,
                                     const struct t3_operands* t, struct t3_gemm_collectives* collectives) {
  struct t3_output out = t->out;
  if (w->near_memory) out.matrix.memory = T3_UNCACHED; /* the neighbours update memory; the cache is empty */
  T3_TRY(t3_scatter_sums(gpu, collectives, &out));
  return settle(gpu);
}

static enum t3_status run_phases(struct t3_context* gpu, const struct t3_gemm_workload* w, const struct t3_operands* t,
                                 struct t3_gemm_collectives* collectives) {
  if (!w->skip_gemm) T3_TRY(gemm(gpu, w, t));
  if (!w->skip_reduce_scatter) T3_TRY(reduce_scatter(gpu, w, t, collectives));
  return w->skip_all_gather ? T3_OK : t3_gather_all(gpu, collectives);
}

enum t3_status t3_run_isolated(const struct t3_hal* hal, const struct t3_run* run) {
  struct t3_gemm_workload w;
  T3_TRY(t3_gemm_workload_of(run, &w));
  struct t3_context context = {0};
  struct t3_operands t;
  T3_TRY(t3_set_up(&context, hal, run));
  t3_begin(&context, "setup");
  T3_TRY(t3_allocate(&context, &w, w.split_k > 1 ? T3_UNCACHED : T3_CACHED, &t));
  struct t3_matrix staging;
  struct t3_gemm_collectives collectives;
  T3_TRY(t3_prepare_collectives(&context, &w, &t.out, T3_ALL_REDUCE, &staging, &collectives));
  T3_TRY(t3_dirty_cache(&context, &w));
  T3_TRY(t3_barrier(&context));
  t3_end(&context, "setup");

  t3_begin(&context, "total");
  T3_TRY(run_phases(&context, &w, &t, &collectives));
  t3_end(&context, "total");
  T3_TRY(t3_hand_over(&context));
  return t3_close(&context);
}
