/* A layer of experts. In bulk one kernel follows the other. With deepep, dispatch and combine run on compute units
 * of their own beside the GEMM, and flags and signals say what has come. */
#include "t3/streams.h"
#include "workloads/moe/moe_steps.h"

static enum t3_status run_bulk(struct t3_context* gpu, const struct t3_moe_run* r) {
  T3_TRY(t3_moe_share_counts(gpu, r));
  t3_begin(gpu, "dispatch");
  T3_TRY(t3_moe_launch_dispatch(gpu, r));
  T3_TRY(t3_wait_kernels(gpu));
  t3_end(gpu, "dispatch");
  t3_begin(gpu, "gemm");
  T3_TRY(t3_moe_launch_gemm(gpu, r, 0));
  T3_TRY(t3_wait_kernels(gpu));
  t3_end(gpu, "gemm");
  t3_begin(gpu, "combine");
  T3_TRY(t3_moe_launch_combine(gpu, r));
  T3_TRY(t3_wait_kernels(gpu));
  t3_end(gpu, "combine");
  t3_begin(gpu, "sum");
  T3_TRY(t3_moe_launch_sum(gpu, r));
  T3_TRY(t3_wait_kernels(gpu));
  t3_end(gpu, "sum");
  return T3_OK;
}

/* The sum has the GEMM's compute units, when this GPU's combine has ended. */
static enum t3_status run_beside(struct t3_context* gpu, const struct t3_moe_run* r) {
  struct t3_event combined = {0};
  t3_begin(gpu, "layer");
  T3_TRY(t3_moe_launch_dispatch(gpu, r));
  T3_TRY(t3_moe_launch_gemm(gpu, r, 0));
  T3_TRY(t3_moe_launch_combine(gpu, r));
  T3_TRY(t3_event_record(gpu, r->communication_queue, &combined));
  T3_TRY(t3_queue_wait_event(gpu, r->compute_queue, &combined));
  T3_TRY(t3_moe_launch_sum(gpu, r));
  T3_TRY(t3_wait_queue(gpu, r->compute_queue));
  T3_TRY(t3_wait_queue(gpu, r->communication_queue));
  t3_end(gpu, "layer");
  return T3_OK;
}

static enum t3_status run_phases(struct t3_context* gpu, struct t3_moe_run* r) {
  if (r->moe.mechanism == T3_MOE_BULK) return run_bulk(gpu, r);
  if (!t3_moe_is_tracked(&r->moe)) return run_beside(gpu, r);
  return r->moe.padded ? t3_moe_run_padded(gpu, r) : t3_moe_run_tracked(gpu, r);
}

enum t3_status t3_run_moe(const struct t3_hal* hal, const struct t3_run* run) {
  struct t3_context context = {0};
  struct t3_moe_run r = {0};
  T3_TRY(t3_moe_of(run, &r.moe));
  T3_TRY(t3_set_up(&context, hal, run));
  t3_begin(&context, "setup");
  T3_TRY(t3_moe_prepare(&context, &r));
  T3_TRY(r.moe.gpus_per_node == 0 ? t3_barrier(&context) : t3_host_barrier(&context));
  t3_end(&context, "setup");

  t3_begin(&context, "total");
  T3_TRY(run_phases(&context, &r));
  t3_end(&context, "total");
  T3_TRY(t3_remote_unmap_all(&context));
  T3_TRY(t3_hand_over(&context));
  if (r.moe.gpus_per_node != 0) T3_TRY(t3_shmem_finalize(&context, &r.heap));
  return t3_close(&context);
}
