#include <string.h>

#include "driver_errors/misuse.h"

static void publish(const struct t3_context* gpu, const char* name, const struct t3_matrix* matrix) {
  const struct t3_buffer buffer = {.name = name,
                                   .address = matrix->address,
                                   .row_stride = matrix->row_stride,
                                   .rows = matrix->rows,
                                   .columns = matrix->columns,
                                   .element = (uint32_t)matrix->element};
  t3_hal_of(gpu)->publish(t3_hal_of(gpu)->platform, &buffer);
}

static enum t3_status allocate(struct t3_context* gpu, const char* name, struct t3_matrix* matrix) {
  T3_TRY(t3_matrix_malloc(gpu, matrix));
  publish(gpu, name, matrix);
  return T3_OK;
}

enum t3_status guest_without_flush(const struct t3_hal* hal, const struct t3_run* run) {
  struct t3_context gpu;
  T3_TRY(t3_init(&gpu, hal));
  struct t3_matrix a = {.rows = gemm_of(run).m, .columns = gemm_of(run).k, .element = gemm_of(run).element};
  struct t3_matrix b = {.rows = gemm_of(run).k, .columns = gemm_of(run).n, .element = gemm_of(run).element};
  struct t3_output out = {
      .matrix = {.rows = gemm_of(run).m, .columns = gemm_of(run).n, .element = gemm_of(run).element},
      .tiling = tiling_of(run)};
  struct t3_matrix staging = out.matrix;
  T3_TRY(allocate(&gpu, "a", &a));
  T3_TRY(allocate(&gpu, "b", &b));
  T3_TRY(t3_matrix_malloc(&gpu, &staging));
  T3_TRY(allocate(&gpu, "out", &out.matrix));
  T3_TRY(t3_barrier(&gpu));
  T3_TRY(t3_gemm(&gpu, &out, &a, &b, (struct t3_gemm_options){0}));
  T3_TRY(t3_ring_reduce_scatter(&gpu, &out, &staging));
  T3_TRY(t3_ring_all_gather(&gpu, &out));
  return t3_wait_kernels(&gpu);
}

enum { SIZE = 64 }; /* of square matrices of fp16 */

static enum t3_status fill(const struct t3_context* gpu, const struct t3_matrix* matrix, uint16_t value) {
  uint16_t row[SIZE];
  for (uint32_t i = 0; i < SIZE; ++i) row[i] = value;
  for (uint32_t i = 0; i < SIZE; ++i)
    T3_TRY(t3_hal_of(gpu)->write_memory(t3_hal_of(gpu)->platform, matrix->address + i * matrix->row_stride, row,
                                        sizeof row));
  return T3_OK;
}

/* Reports whether all elements in memory have the value. */
static void tell_whether(struct stage* s, const char* what, const struct t3_matrix* matrix, uint16_t value) {
  bool all = true;
  for (uint32_t i = 0; i < SIZE; ++i) {
    uint16_t row[SIZE];
    memset(row, 0, sizeof row);
    const uint64_t address = matrix->address + i * matrix->row_stride;
    if (t3_hal_of(&s->gpu)->read_memory(t3_hal_of(&s->gpu)->platform, address, row, sizeof row) != T3_OK) all = false;
    for (uint32_t j = 0; j < SIZE; ++j) all = all && row[j] == value;
  }
  tell(s, what, all ? T3_OK : T3_BAD_VALUE);
}

static void scale(struct stage* s, const struct t3_matrix* out, const struct t3_matrix* a) {
  tell(s, "kernel", t3_rows(&s->gpu, T3_ROWS_SCALE, out, a, NULL, NULL, (struct t3_row_options){.factor = 2}));
  tell(s, "its end", t3_wait_kernels(&s->gpu));
}

static void stale_operand(struct stage* s) {
  const uint16_t one = 0x3C00, two = 0x4000, four = 0x4400;
  struct t3_matrix a = {.rows = SIZE, .columns = SIZE, .element = T3_FP16}, out = a;
  tell(s, "memory of a", t3_matrix_malloc(&s->gpu, &a));
  tell(s, "memory of out", t3_matrix_malloc(&s->gpu, &out));
  tell(s, "ones in a", fill(&s->gpu, &a, one));
  scale(s, &out, &a);
  tell_whether(s, "out is a 2 before a flush", &out, two);
  tell(s, "flush", t3_flush_cache(&s->gpu));
  tell_whether(s, "out is a 2 after it", &out, two);
  scale(s, &out, &a);
  tell(s, "twos in a", fill(&s->gpu, &a, two));
  scale(s, &out, &a);
  tell(s, "flush", t3_flush_cache(&s->gpu));
  tell_whether(s, "out is a 4 of an operand that was cached", &out, four);
  scale(s, &out, &a);
  tell(s, "flush", t3_flush_cache(&s->gpu));
  tell_whether(s, "out is a 4 of an operand that is read anew", &out, four);
}

enum t3_status guest_stale_operand(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, stale_operand);
}

static void cached_and_updated(struct stage* s) {
  const uint16_t one = 0x3C00, k_times_3 = 0x5A00, k_times_4 = 0x5C00, k_times_6 = 0x5E00; /* k is 64 */
  struct t3_matrix a = {.rows = SIZE, .columns = SIZE, .element = T3_FP16}, b = a, before = a, after = a;
  struct t3_output out = {.matrix = a, .tiling = s->out.tiling};
  struct t3_matrix* const all[] = {&a, &b, &before, &after, &out.matrix};
  for (uint32_t i = 0; i < 5; ++i) tell(s, "memory", t3_matrix_malloc(&s->gpu, all[i]));
  tell(s, "ones in a", fill(&s->gpu, &a, one));
  tell(s, "ones in b", fill(&s->gpu, &b, one));
  const struct t3_gemm_options update = {.update = true};
  tell(s, "gemm", t3_gemm(&s->gpu, &out, &a, &b, (struct t3_gemm_options){0}));
  tell(s, "update", t3_gemm(&s->gpu, &out, &a, &b, update));
  scale(s, &before, &out.matrix);
  tell(s, "update", t3_gemm(&s->gpu, &out, &a, &b, update));
  scale(s, &after, &out.matrix);
  tell(s, "flush", t3_flush_cache(&s->gpu));
  tell_whether(s, "out is 3 k", &out.matrix, k_times_3);
  tell_whether(s, "a kernel has read 2 k", &before, k_times_4);
  tell_whether(s, "and then 3 k", &after, k_times_6);
}

enum t3_status guest_that_updates_what_is_cached(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, cached_and_updated);
}
