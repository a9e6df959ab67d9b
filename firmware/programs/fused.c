#include "operands.h"

/* Where the stores of this GPU's GEMM and the updates that arrive from the next GPU go (T3 Figures 7 and 12). */
static enum t3_status map_output(struct t3_context* gpu, const struct t3_output* out, struct t3_dma_options dma) {
  const uint32_t steps = gpu->gpus;
  const uint64_t peer_out = t3_peer_address(&out->matrix, t3_ring_previous(gpu));
  for (uint32_t step = 0; step < steps; ++step) {
    const struct t3_chunk chunk = t3_ring_chunk(gpu, out, step);
    if (chunk.workgroups == 0) continue; /* fewer tiles than GPUs */
    if (step == 0) {
      T3_TRY(t3_remote_map(gpu, out, chunk, peer_out, T3_UPDATE));
    } else if (step < steps - 1) {
      T3_TRY(t3_dma_map(gpu, out, chunk, peer_out, T3_UPDATE, dma));
    } else {
      T3_TRY(t3_dma_map(gpu, out, chunk, 0, T3_NOTIFY, dma));
    }
  }
  return T3_OK;
}

static enum t3_status gemm_and_reduce_scatter(struct t3_context* gpu, const struct t3_job* job,
                                              const struct t3_operands* t) {
  struct t3_gemm_options options = t3_gemm_options_of(job);
  options.update = true;
  options.first_workgroup = t3_ring_chunk(gpu, &t->out, 0).first_workgroup;
  t3_begin(gpu, "gemm");
  T3_TRY(t3_gemm(gpu, &t->out, &t->a, &t->b, options));
  T3_TRY(t3_wait_kernels(gpu));
  t3_end(gpu, "gemm");
  return t3_wait_dma(gpu);
}

static enum t3_status run(struct t3_context* gpu, const struct t3_job* job, const struct t3_operands* t) {
  t3_begin(gpu, "fused");
  T3_TRY(gemm_and_reduce_scatter(gpu, job, t));
  t3_end(gpu, "fused");
  return t3_gather_all(gpu, job, &t->out);
}

static enum t3_status zero(struct t3_context* gpu, const struct t3_job* job, const struct t3_matrix* out) {
  t3_begin(gpu, "zeroing");
  T3_TRY(job->valid_bits ? t3_arm_zero(gpu, out) : t3_fill_zero(gpu, out));
  t3_end(gpu, "zeroing");
  return T3_OK;
}

enum t3_status t3_fused(const struct t3_hal* hal, const struct t3_job* job) {
  struct t3_context context = {0};
  struct t3_operands t;
  T3_TRY(t3_set_up(&context, hal, job));
  t3_begin(&context, "setup");
  T3_TRY(t3_allocate(&context, job, T3_UNCACHED, &t));
  if (job->zero_output) T3_TRY(zero(&context, job, &t.out.matrix));
  if (context.gpus > 1) T3_TRY(map_output(&context, &t.out, job->dma));
  T3_TRY(t3_barrier(&context));
  t3_end(&context, "setup");

  t3_begin(&context, "total");
  T3_TRY(run(&context, job, &t));
  t3_end(&context, "total");
  T3_TRY(t3_remote_unmap_all(&context));
  return t3_close(&context);
}
