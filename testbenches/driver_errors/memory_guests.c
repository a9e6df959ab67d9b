#include "driver_errors/misuse.h"

/* The GPU has 1 GiB, of which the stage takes less than 1 MiB. */
static void exhausting(struct stage* s) {
  uint64_t address = 0;
  tell(s, "2 GiB", t3_malloc(&s->gpu, UINT64_C(2) << 30, &address));
  tell(s, "a size that wraps around", t3_malloc(&s->gpu, UINT64_MAX, &address));
  tell(s, "1023 MiB", t3_malloc(&s->gpu, UINT64_C(1023) << 20, &address));
  tell(s, "1 MiB more", t3_malloc(&s->gpu, UINT64_C(1) << 20, &address));
  tell(s, "256 bytes more", t3_malloc(&s->gpu, 256, &address));
  struct t3_matrix matrix = {.rows = 1024, .columns = 1024, .element = T3_FP16};
  tell(s, "a matrix", t3_matrix_malloc(&s->gpu, &matrix));
}

enum t3_status guest_memory_exhausted(const struct t3_hal* hal, const struct t3_job* job) {
  return misuse_then_work(hal, job, exhausting);
}
