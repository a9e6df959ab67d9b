#include "driver_errors/misuse.h"
#include "t3/registers/near_memory.h"

/* The addresses are the same on all GPUs when all allocate the same. */
static enum t3_status prepare(struct t3_context* gpu, const struct t3_hal* hal, const struct t3_run* run,
                              struct t3_output* out) {
  T3_TRY(t3_init(gpu, hal));
  struct t3_matrix a = {.rows = gemm_of(run).m, .columns = gemm_of(run).k, .element = gemm_of(run).element};
  struct t3_matrix b = {.rows = gemm_of(run).k, .columns = gemm_of(run).n, .element = gemm_of(run).element};
  *out =
      (struct t3_output){.matrix = {.rows = gemm_of(run).m, .columns = gemm_of(run).n, .element = gemm_of(run).element},
                         .tiling = tiling_of(run)};
  T3_TRY(t3_matrix_malloc(gpu, &a));
  T3_TRY(t3_matrix_malloc(gpu, &b));
  return t3_matrix_malloc(gpu, &out->matrix);
}

static enum t3_status wait_for_the_others(struct t3_context* gpu, const struct t3_output* out,
                                          const struct t3_run* run) {
  const uint64_t peer_out = t3_peer_address(&out->matrix, t3_ring_previous(gpu));
  T3_TRY(t3_remote_map(gpu, out, t3_ring_chunk(gpu, out, 0), peer_out, T3_UPDATE));
  T3_TRY(t3_dma_map(gpu, out, t3_ring_chunk(gpu, out, 1), 0, T3_NOTIFY, dma_of(run)));
  T3_TRY(t3_barrier(gpu));
  return t3_wait_dma(gpu);
}

enum t3_status guest_without_gemm(const struct t3_hal* hal, const struct t3_run* run) {
  struct t3_context gpu;
  struct t3_output out;
  T3_TRY(prepare(&gpu, hal, run, &out));
  return wait_for_the_others(&gpu, &out, run);
}

enum t3_status guest_that_takes_no_updates(const struct t3_hal* hal, const struct t3_run* run) {
  struct t3_context gpu;
  struct t3_output out;
  T3_TRY(prepare(&gpu, hal, run, &out));
  T3_TRY(hal->write32(hal->platform, t3_block_base(t3_gpu(&gpu), T3_BLOCK_NEAR_MEMORY) + T3_NEAR_MEMORY_CONTROL_OFFSET,
                      0));
  return wait_for_the_others(&gpu, &out, run);
}

static enum t3_status map_all(struct t3_context* gpu, const struct t3_output* out) {
  const struct t3_chunk all = {0, t3_workgroups(out)};
  return t3_dma_map(gpu, out, all, 0, T3_NOTIFY, (struct t3_dma_options){.updates = 1, .block_tiles = 1});
}

/* No GEMM stores to the cache on a map: that one runs before. */
static enum t3_status multiply_without_updates(const struct t3_hal* hal, const struct t3_run* run,
                                               enum t3_memory_kind memory) {
  struct t3_context gpu;
  struct t3_output out;
  T3_TRY(prepare(&gpu, hal, run, &out));
  struct t3_matrix a = {.rows = gemm_of(run).m, .columns = gemm_of(run).k, .element = gemm_of(run).element};
  struct t3_matrix b = {.rows = gemm_of(run).k, .columns = gemm_of(run).n, .element = gemm_of(run).element};
  T3_TRY(t3_matrix_malloc(&gpu, &a));
  T3_TRY(t3_matrix_malloc(&gpu, &b));
  out.matrix.memory = memory;
  if (memory == T3_UNCACHED) T3_TRY(map_all(&gpu, &out));
  T3_TRY(t3_barrier(&gpu));
  T3_TRY(t3_gemm(&gpu, &out, &a, &b, (struct t3_gemm_options){.update = false}));
  T3_TRY(t3_wait_kernels(&gpu));
  if (memory == T3_CACHED) T3_TRY(map_all(&gpu, &out));
  return t3_wait_dma(&gpu);
}

enum t3_status guest_output_in_cache(const struct t3_hal* hal, const struct t3_run* run) {
  return multiply_without_updates(hal, run, T3_CACHED);
}

enum t3_status guest_output_stored(const struct t3_hal* hal, const struct t3_run* run) {
  return multiply_without_updates(hal, run, T3_UNCACHED);
}

static enum t3_status allocated(struct t3_context* gpu, const struct t3_output* out, const struct t3_run* run,
                                struct t3_matrix* a, struct t3_matrix* b) {
  *a = (struct t3_matrix){.rows = gemm_of(run).m, .columns = gemm_of(run).k, .element = out->matrix.element};
  *b = (struct t3_matrix){.rows = gemm_of(run).k, .columns = gemm_of(run).n, .element = out->matrix.element};
  T3_TRY(t3_matrix_malloc(gpu, a));
  return t3_matrix_malloc(gpu, b);
}

static enum t3_status update_all(struct t3_context* gpu, const struct t3_output* out, const struct t3_run* run) {
  struct t3_matrix a, b;
  T3_TRY(allocated(gpu, out, run, &a, &b));
  T3_TRY(t3_gemm(gpu, out, &a, &b, (struct t3_gemm_options){.update = true}));
  return t3_wait_kernels(gpu);
}

enum t3_status guest_too_early(const struct t3_hal* hal, const struct t3_run* run) {
  struct t3_context gpu;
  struct t3_output out;
  T3_TRY(prepare(&gpu, hal, run, &out));
  const uint64_t peer_out = t3_peer_address(&out.matrix, t3_ring_previous(&gpu));
  T3_TRY(t3_remote_map(&gpu, &out, t3_ring_chunk(&gpu, &out, 0), peer_out, T3_UPDATE));
  T3_TRY(update_all(&gpu, &out, run));
  struct t3_output other = out;
  T3_TRY(t3_matrix_malloc(&gpu, &other.matrix));
  T3_TRY(t3_ring_all_gather(&gpu, &other));
  return t3_wait_kernels(&gpu);
}

enum t3_status guest_dma_too_early(const struct t3_hal* hal, const struct t3_run* run) {
  struct t3_context gpu;
  struct t3_output out;
  T3_TRY(prepare(&gpu, hal, run, &out));
  const uint64_t peer_out = t3_peer_address(&out.matrix, t3_ring_previous(&gpu));
  const struct t3_dma_options one = {.updates = 1, .block_tiles = 1};
  T3_TRY(t3_dma_map(&gpu, &out, t3_ring_chunk(&gpu, &out, 0), peer_out, T3_UPDATE, one));
  T3_TRY(update_all(&gpu, &out, run));
  T3_TRY(t3_wait_dma(&gpu));
  return t3_barrier(&gpu);
}

enum t3_status guest_that_maps_late(const struct t3_hal* hal, const struct t3_run* run) {
  struct t3_context gpu;
  struct t3_output out;
  T3_TRY(prepare(&gpu, hal, run, &out));
  hal->wait_ns(hal->platform, 1000000);
  T3_TRY(t3_dma_map(&gpu, &out, t3_ring_chunk(&gpu, &out, 1), 0, T3_NOTIFY, dma_of(run)));
  T3_TRY(update_all(&gpu, &out, run));
  return t3_wait_dma(&gpu);
}

enum t3_status guest_with_another_kernel(const struct t3_hal* hal, const struct t3_run* run) {
  struct t3_context gpu;
  struct t3_output out;
  T3_TRY(prepare(&gpu, hal, run, &out));
  struct t3_output other = out;
  T3_TRY(t3_matrix_malloc(&gpu, &other.matrix));
  T3_TRY(update_all(&gpu, &other, run));
  return wait_for_the_others(&gpu, &out, run);
}

enum t3_status guest_that_leaves(const struct t3_hal* hal, const struct t3_run* run) {
  struct t3_context gpu;
  struct t3_output out;
  T3_TRY(prepare(&gpu, hal, run, &out));
  T3_TRY(t3_dma_map(&gpu, &out, t3_ring_chunk(&gpu, &out, 1), 0, T3_NOTIFY, dma_of(run)));
  return t3_barrier(&gpu);
}
