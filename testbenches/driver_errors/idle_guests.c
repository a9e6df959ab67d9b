#include "driver_errors/misuse.h"

/* The addresses are the same on all GPUs when all allocate the same. */
static enum t3_status prepare(struct t3_context* gpu, const struct t3_hal* hal, const struct t3_job* job,
                              struct t3_output* out) {
  T3_TRY(t3_init(gpu, hal));
  struct t3_matrix a = {.rows = job->m, .columns = job->k, .element = job->element};
  struct t3_matrix b = {.rows = job->k, .columns = job->n, .element = job->element};
  *out =
      (struct t3_output){.matrix = {.rows = job->m, .columns = job->n, .element = job->element}, .tiling = job->tiling};
  T3_TRY(t3_matrix_malloc(gpu, &a));
  T3_TRY(t3_matrix_malloc(gpu, &b));
  return t3_matrix_malloc(gpu, &out->matrix);
}

enum t3_status guest_without_gemm(const struct t3_hal* hal, const struct t3_job* job) {
  struct t3_context gpu;
  struct t3_output out;
  T3_TRY(prepare(&gpu, hal, job, &out));
  const uint64_t peer_out = t3_peer_address(&out.matrix, t3_ring_previous(&gpu));
  T3_TRY(t3_remote_map(&gpu, &out, t3_ring_chunk(&gpu, &out, 0), peer_out, T3_UPDATE));
  T3_TRY(t3_dma_map(&gpu, &out, t3_ring_chunk(&gpu, &out, 1), 0, T3_NOTIFY, job->dma));
  T3_TRY(t3_barrier(&gpu));
  return t3_wait_dma(&gpu);
}

enum t3_status guest_that_leaves(const struct t3_hal* hal, const struct t3_job* job) {
  struct t3_context gpu;
  struct t3_output out;
  T3_TRY(prepare(&gpu, hal, job, &out));
  T3_TRY(t3_dma_map(&gpu, &out, t3_ring_chunk(&gpu, &out, 1), 0, T3_NOTIFY, job->dma));
  return t3_barrier(&gpu);
}
