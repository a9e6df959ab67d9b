/* A GEMM is decomposed into one for each owner's rows, the own ones last. Two queues of kernels hide the ends of GEMMs.
 * The DMA engine copies each result to its owner, which adds all when all are there. Public descriptions: CoCoNet
 * (Jangda et al., ASPLOS 2022), Wang et al. (ASPLOS 2023), PyTorch's async tensor parallelism (the forum's announcement
 * and its documentation of symmetric memory). */
#include "workloads/rivals/dma_exchange.h"

struct step {
  uint32_t owner;
  struct t3_row_run rows;
};

static struct step step_of(const struct t3_context* gpu, const struct t3_dma_exchange* x, uint32_t number) {
  const uint32_t parts = x->r.rival.pieces, owner = (t3_gpu(gpu) + 1 + number / parts) % t3_gpus(gpu);
  return (struct step){owner, t3_part_of_rows(t3_owned_rows(gpu, x, 0, owner), number % parts, parts)};
}

static uint32_t steps_of(const struct t3_context* gpu, const struct t3_dma_exchange* x) {
  return t3_gpus(gpu) * x->r.rival.pieces;
}

/* Copies of a step are queued when its GEMM has ended, which the host waits for. At most two GEMMs are queued. */
static enum t3_status gemms_and_copies(struct t3_context* gpu, const struct t3_dma_exchange* x,
                                       const uint32_t queues[2]) {
  struct t3_event computed[2];
  for (uint32_t number = 0; number < steps_of(gpu, x) + 2; ++number) {
    if (number >= 2) {
      const struct step done = step_of(gpu, x, number - 2);
      if (done.rows.count != 0) T3_TRY(t3_event_wait(gpu, &computed[number % 2], T3_FOREVER));
      if (done.owner != t3_gpu(gpu)) T3_TRY(t3_copy_to_owner(gpu, x, 0, done.owner, done.rows));
    }
    if (number >= steps_of(gpu, x)) continue;
    struct t3_rival_run r = x->r;
    r.compute_queue = queues[number % 2];
    T3_TRY(t3_launch_rows_gemm(gpu, &r, step_of(gpu, x, number).rows, x->partials));
    T3_TRY(t3_event_record(gpu, r.compute_queue, &computed[number % 2]));
  }
  return T3_OK;
}

static enum t3_status run_phases(struct t3_context* gpu, const struct t3_dma_exchange* x, const uint32_t queues[2]) {
  t3_begin(gpu, "fused");
  t3_begin(gpu, "gemm");
  T3_TRY(gemms_and_copies(gpu, x, queues));
  t3_end(gpu, "gemm");
  T3_TRY(t3_launch_piece_sum(gpu, x, 0));
  T3_TRY(t3_wait_queue(gpu, x->r.communication_queue));
  t3_end(gpu, "fused");
  t3_begin(gpu, "all_gather");
  T3_TRY(t3_copy_to_all(gpu, x, 0));
  T3_TRY(t3_end_exchange(gpu));
  t3_end(gpu, "all_gather");
  return T3_OK;
}

enum t3_status t3_run_decomposed(const struct t3_hal* hal, const struct t3_run* run) {
  struct t3_context context = {0};
  struct t3_dma_exchange x = {.pieces = 1};
  uint32_t queues[2] = {0, 0};
  T3_TRY(t3_rival_run_of(run, &x.r));
  T3_TRY(t3_set_up(&context, hal, run));
  t3_begin(&context, "setup");
  T3_TRY(t3_prepare_exchange(&context, &x));
  T3_TRY(t3_queue_create(&context, (struct t3_queue_options){0}, &queues[1]));
  T3_TRY(t3_barrier(&context));
  t3_end(&context, "setup");

  t3_begin(&context, "total");
  T3_TRY(run_phases(&context, &x, queues));
  t3_end(&context, "total");
  return t3_close(&context);
}
