#include <stddef.h>

#include "driver_errors/misuse.h"

static void second_context(struct stage* s) {
  struct t3_context other;
  tell(s, "a second context", t3_init(&other, s->hal));
  tell(s, "what it can do", t3_barrier(&other));
  const struct t3_chunk chunk = {0, 8};
  tell(s, "remote_map", t3_remote_map(&s->gpu, &s->out, chunk, s->peer_out, T3_UPDATE));
  tell(s, "close with a map", t3_close(&s->gpu));
  tell(s, "unmap", t3_remote_unmap_all(&s->gpu));
  struct t3_matrix a = {.rows = s->out.matrix.rows, .columns = 32, .element = s->out.matrix.element};
  struct t3_matrix b = {.rows = 32, .columns = s->out.matrix.columns, .element = s->out.matrix.element};
  tell(s, "memory of a", t3_matrix_malloc(&s->gpu, &a));
  tell(s, "memory of b", t3_matrix_malloc(&s->gpu, &b));
  tell(s, "gemm", t3_gemm(&s->gpu, &s->out, &a, &b, (struct t3_gemm_options){0}));
  tell(s, "close with a kernel", t3_close(&s->gpu));
  tell(s, "its end", t3_wait_kernels(&s->gpu));
  tell(s, "close", t3_close(&s->gpu));
  tell(s, "close again", t3_close(&s->gpu));
  tell(s, "a closed context", t3_gemm(&s->gpu, &s->out, &a, &b, (struct t3_gemm_options){0}));
  tell(s, "the next context", t3_init(&s->gpu, s->hal));
  struct t3_hal incomplete = *s->hal;
  incomplete.time_ns = NULL;
  tell(s, "a HAL without a clock", t3_init(&other, &incomplete));
}

enum t3_status guest_second_context(const struct t3_hal* hal, const struct t3_job* job) {
  return misuse_then_work(hal, job, second_context);
}

enum t3_status guest_twice(const struct t3_hal* hal, const struct t3_job* job) {
  T3_TRY(t3_fused(hal, job));
  return t3_fused(hal, job);
}

static void unknown_phases(struct stage* s) {
  const int phases[] = {T3_PHASE_ZEROING + 1, 255, 256, 1 << 30, -1};
  for (uint32_t i = 0; i < sizeof phases / sizeof phases[0]; ++i) {
    s->hal->mark(s->hal->platform, (enum t3_phase)phases[i], true);
    s->hal->mark(s->hal->platform, (enum t3_phase)phases[i], false);
  }
  s->hal->publish(s->hal->platform, NULL);
  s->hal->log(s->hal->platform, NULL);
}

enum t3_status guest_unknown_phases(const struct t3_hal* hal, const struct t3_job* job) {
  return misuse_then_work(hal, job, unknown_phases);
}
