#include "workloads/gemm/gemm_following.h"
#include "workloads/gemm/gemm_tensors.h"
#include "workloads/gemm/sequential_nodes.h"

static enum t3_status run_phases(struct t3_context* gpu, const struct t3_gemm_workload* w, const struct t3_operands* t,
                                 struct t3_gemm_collectives* collectives) {
  t3_begin(gpu, "gemm");
  T3_TRY(t3_gemm(gpu, &t->out, &t->a, &t->b, t3_gemm_options_of(w)));
  T3_TRY(t3_wait_kernels(gpu));
  t3_end(gpu, "gemm");

  T3_TRY(t3_scatter_sums(gpu, collectives, &t->out));
  T3_TRY(t3_gather_all(gpu, collectives));
  return t3_follow_by_kernel(gpu, w, t);
}

enum t3_status t3_run_sequential(const struct t3_hal* hal, const struct t3_run* run) {
  struct t3_gemm_workload w;
  T3_TRY(t3_gemm_workload_of(run, &w));
  if (w.by_nic) return t3_sequential_of_nodes(hal, run, &w);
  struct t3_context context = {0};
  struct t3_operands t;
  T3_TRY(t3_set_up(&context, hal, run));
  t3_begin(&context, "setup");
  T3_TRY(t3_allocate(&context, &w, T3_CACHED, &t));
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
