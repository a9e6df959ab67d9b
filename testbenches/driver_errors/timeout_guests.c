#include <stddef.h>

#include "driver_errors/misuse.h"
#include "t3/registers/dma.h"

static void tell_time(struct stage* s, const char* what, uint64_t begin, uint64_t at_least, uint64_t at_most) {
  const uint64_t took = s->hal->time_ns(s->hal->platform) - begin;
  tell(s, what, took >= at_least && took <= at_most ? T3_OK : T3_BAD_VALUE);
}

static void kernels(struct stage* s) {
  struct t3_matrix a = {.rows = s->out.matrix.rows, .columns = 128, .element = s->out.matrix.element};
  struct t3_matrix b = {.rows = 128, .columns = s->out.matrix.columns, .element = s->out.matrix.element};
  tell(s, "memory of a", t3_matrix_malloc(&s->gpu, &a));
  tell(s, "memory of b", t3_matrix_malloc(&s->gpu, &b));
  const uint64_t begin = s->hal->time_ns(s->hal->platform);
  tell(s, "timeout 0", t3_set_timeout(&s->gpu, 0));
  enum t3_status queued = T3_OK;
  for (uint32_t i = 0; i < 17 && queued == T3_OK; ++i)
    queued = t3_gemm(&s->gpu, &s->out, &a, &b, (struct t3_gemm_options){0});
  tell(s, "17 kernels for 16 places", queued);
  tell(s, "the first one", t3_wait_kernel(&s->gpu, t3_last_kernel(&s->gpu) - 15));
  tell_time(s, "no time", begin, 0, 20000);
  const uint64_t later = s->hal->time_ns(s->hal->platform);
  tell(s, "timeout 5000", t3_set_timeout(&s->gpu, 5000));
  tell(s, "all", t3_wait_kernels(&s->gpu));
  tell_time(s, "5000 ns", later, 5000, 6000);
  tell(s, "no timeout", t3_set_timeout(&s->gpu, T3_FOREVER));
  tell(s, "all", t3_wait_kernels(&s->gpu));
}

static void fill_and_flush(struct stage* s) {
  struct t3_matrix small = {.rows = 1, .columns = 16, .element = s->out.matrix.element};
  tell(s, "memory", t3_matrix_malloc(&s->gpu, &small));
  struct t3_output cached = s->out;
  cached.matrix.memory = T3_CACHED;
  tell(s, "store to the cache",
       t3_rows(&s->gpu, T3_ROWS_SCALE, &cached.matrix, &cached.matrix, NULL, NULL,
               (struct t3_row_options){.factor = 1}));
  tell(s, "its end", t3_wait_kernels(&s->gpu));
  tell(s, "timeout 100", t3_set_timeout(&s->gpu, 100));
  tell(s, "flush", t3_flush_cache(&s->gpu));
  tell(s, "fill", t3_fill_zero(&s->gpu, &s->out.matrix));
  tell(s, "another fill", t3_fill_zero(&s->gpu, &small));
  tell(s, "no timeout", t3_set_timeout(&s->gpu, T3_FOREVER));
  tell(s, "a small fill after the large one", t3_fill_zero(&s->gpu, &small));
  tell(s, "flush", t3_flush_cache(&s->gpu));
}

/* The fill's interrupt is still set when others wait on the same line. */
static void after_a_fill(struct stage* s) {
  const struct t3_chunk all = {0, 64};
  const struct t3_dma_options once = {.updates = 1, .block_tiles = 1};
  tell(s, "timeout 1", t3_set_timeout(&s->gpu, 1));
  tell(s, "fill", t3_fill_zero(&s->gpu, &s->out.matrix));
  s->hal->wait_ns(s->hal->platform, 100000);
  tell(s, "dma_map", t3_dma_map(&s->gpu, &s->out, all, 0, T3_NOTIFY, once));
  tell(s, "timeout 1000", t3_set_timeout(&s->gpu, 1000));
  const uint64_t begin = s->hal->time_ns(s->hal->platform);
  tell(s, "wait_dma", t3_wait_dma(&s->gpu));
  tell_time(s, "1000 ns", begin, 1000, 2000);
  tell(s, "another fill", t3_fill_zero(&s->gpu, &s->out.matrix));
  tell(s, "all maps", t3_force_unmap_all(&s->gpu));
  s->hal->wait_ns(s->hal->platform, 100000);
  tell(s, "its interrupt cleared by hand",
       s->hal->write32(s->hal->platform, t3_block_base(t3_gpu(&s->gpu), T3_BLOCK_DMA) + T3_DMA_INTERRUPT_OFFSET, 7));
  tell(s, "no timeout", t3_set_timeout(&s->gpu, T3_FOREVER));
  tell(s, "the fill after it", t3_fill_zero(&s->gpu, &s->out.matrix));
}

enum t3_status guest_that_waits_after_a_fill(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, after_a_fill);
}

static void on_the_first(struct stage* s) {
  kernels(s);
  fill_and_flush(s);
  tell(s, "timeout 1000", t3_set_timeout(&s->gpu, 1000));
  uint32_t timeouts = 0;
  enum t3_status met = T3_TIMEOUT;
  while (met == T3_TIMEOUT) {
    met = t3_barrier(&s->gpu);
    if (met == T3_TIMEOUT) ++timeouts;
  }
  tell(s, "barrier", met);
  tell(s, "after many timeouts", timeouts > 100 ? T3_OK : T3_BAD_VALUE);
  tell(s, "longest timeout", t3_set_timeout(&s->gpu, T3_FOREVER - 1));
  tell(s, "barrier", t3_barrier(&s->gpu));
}

static void on_the_others(struct stage* s) {
  s->hal->wait_ns(s->hal->platform, 2000000);
  tell(s, "barrier", t3_barrier(&s->gpu));
  tell(s, "barrier", t3_barrier(&s->gpu));
}

enum t3_status guest_short_of_time(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, hal->gpu == 0 ? on_the_first : on_the_others);
}
