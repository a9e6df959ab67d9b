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

/* A gap is given out again, to what fits; everything else stays where it is. */
static void freed(struct stage* s) {
  uint64_t first = 0, second = 0, third = 0, again = 0;
  tell(s, "first", t3_malloc(&s->gpu, 1000, &first));
  tell(s, "second", t3_malloc(&s->gpu, 5000, &second));
  tell(s, "third", t3_malloc(&s->gpu, 1000, &third));
  tell(s, "free", t3_free(&s->gpu, second));
  tell(s, "free again", t3_free(&s->gpu, second));
  tell(s, "free what is inside", t3_free(&s->gpu, third + 256));
  tell(s, "free nothing", t3_free(&s->gpu, UINT64_MAX));
  tell(s, "6000 bytes", t3_malloc(&s->gpu, 6000, &again));
  tell(s, "behind the others", again > third ? T3_OK : T3_OVERLAP);
  tell(s, "5000 bytes", t3_malloc(&s->gpu, 5000, &again));
  tell(s, "in the gap", again == second ? T3_OK : T3_OVERLAP);
  tell(s, "free", t3_free(&s->gpu, first));
  uint32_t pieces = 0;
  enum t3_status got = T3_OK;
  while (got == T3_OK && pieces < 1000) {
    got = t3_malloc(&s->gpu, 1, &again);
    if (got == T3_OK) ++pieces;
  }
  tell(s, "as many as there are", got);
  tell(s, "most of the table's",
       pieces > T3_ALLOCATIONS_MAX - 10 && pieces < T3_ALLOCATIONS_MAX ? T3_OK : T3_BAD_VALUE);
}

enum t3_status guest_freed_memory(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, freed);
}

enum t3_status guest_memory_exhausted(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, exhausting);
}
