#include "parameter_checks/gpu_work.h"

#include "t3/t3.h"

enum t3_status gpu_work(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  struct t3_context gpu = {0};
  T3_TRY(t3_init(&gpu, hal));
  struct t3_matrix a = {.rows = 128, .columns = 64, .element = T3_FP16};
  struct t3_matrix b = {.rows = 64, .columns = 128, .element = T3_FP16};
  struct t3_output out = {.matrix = {.rows = 128, .columns = 128, .element = T3_FP16, .memory = T3_CACHED},
                          .tiling = {.rows = 64, .columns = 64, .wavefronts = 8}};
  T3_TRY(t3_matrix_malloc(&gpu, &a));
  T3_TRY(t3_matrix_malloc(&gpu, &b));
  T3_TRY(t3_matrix_malloc(&gpu, &out.matrix));
  T3_TRY(t3_gemm(&gpu, &out, &a, &b, (struct t3_gemm_options){0}));
  T3_TRY(t3_wait_kernels(&gpu));
  T3_TRY(t3_flush_cache(&gpu));
  T3_TRY(t3_barrier(&gpu));
  T3_TRY(t3_ring_all_gather(&gpu, &out));
  T3_TRY(t3_wait_kernels(&gpu));
  return t3_close(&gpu);
}
