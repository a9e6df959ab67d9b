/* Ring kernels that are refused. */
#include "driver_errors/misuse.h"

static struct t3_output beyond_memory(const struct stage* s) {
  struct t3_output out = s->out;
  out.matrix.address = t3_on_gpu(t3_gpu(&s->gpu), (UINT64_C(1) << 30) - 32);
  return out;
}

/* On all GPUs alike, with a right one behind it and others in the next context. */
static void refused_everywhere(struct stage* s) {
  const struct t3_output beyond = beyond_memory(s);
  tell(s, "ring kernel", t3_ring_all_gather(&s->gpu, &s->out));
  tell(s, "ring kernel beyond memory", t3_ring_all_gather(&s->gpu, &beyond));
  tell(s, "another behind it", t3_ring_all_gather(&s->gpu, &s->out));
  tell(s, "their end", t3_wait_kernels(&s->gpu));
  tell(s, "ring kernel beyond memory", t3_ring_all_gather(&s->gpu, &beyond));
  tell(s, "its end", t3_wait_kernels(&s->gpu));
  tell_errors(s);
  tell(s, "flush", t3_flush_cache(&s->gpu));
  tell(s, "close", t3_close(&s->gpu));
  tell(s, "init", t3_init(&s->gpu, s->hal));
  tell(s, "ring kernel of the next context", t3_ring_all_gather(&s->gpu, &s->out));
  tell(s, "its end", t3_wait_kernels(&s->gpu));
}

/* The others are in theirs already and wait for it. */
static void refused_on_the_first(struct stage* s) {
  const struct t3_output beyond = beyond_memory(s);
  if (t3_gpu(&s->gpu) == 0) {
    s->hal->wait_ns(s->hal->platform, 100000);
    tell(s, "ring kernel beyond memory", t3_ring_all_gather(&s->gpu, &beyond));
    tell(s, "its end", t3_wait_kernels(&s->gpu));
  }
  tell(s, "ring kernel", t3_ring_all_gather(&s->gpu, &s->out));
  tell(s, "its end", t3_wait_kernels(&s->gpu));
}

/* Does the same for accesses in flight to its output. */
static void busy_on_the_first(struct stage* s) {
  struct t3_matrix other = {.rows = 1, .columns = 32, .element = s->out.matrix.element};
  if (t3_gpu(&s->gpu) == 0) {
    tell(s, "memory", t3_matrix_malloc(&s->gpu, &other));
    tell(s, "timeout", t3_set_timeout(&s->gpu, 1));
    tell(s, "fill", t3_fill_zero(&s->gpu, &s->out.matrix));
    tell(s, "timeout", t3_set_timeout(&s->gpu, T3_FOREVER));
    tell(s, "ring kernel under a fill", t3_ring_all_gather(&s->gpu, &s->out));
    tell(s, "its end", t3_wait_kernels(&s->gpu));
    tell(s, "another fill, behind it", t3_fill_zero(&s->gpu, &other));
  }
  tell(s, "ring kernel", t3_ring_all_gather(&s->gpu, &s->out));
  tell(s, "its end", t3_wait_kernels(&s->gpu));
}

/* The others give it up. */
static void refused_and_given_up(struct stage* s) {
  const struct t3_output beyond = beyond_memory(s);
  tell(s, "ring kernel beyond memory", t3_ring_all_gather(&s->gpu, &beyond));
  tell(s, "its end", t3_wait_kernels(&s->gpu));
  s->hal->wait_ns(s->hal->platform, 200000);
  tell(s, "abort", t3_abort_kernels(&s->gpu));
  tell(s, "another ring kernel", t3_ring_all_gather(&s->gpu, &s->out));
  tell(s, "reset", t3_reset(s->hal));
  tell(s, "init", t3_init(&s->gpu, s->hal));
  wait_for_resets(s);
}

enum t3_status guest_refused_with_its_peers(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, refused_everywhere);
}

enum t3_status guest_refused_alone(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, refused_on_the_first);
}

enum t3_status guest_busy_alone(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, busy_on_the_first);
}

enum t3_status guest_refused_and_given_up(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, refused_and_given_up);
}

static void give_up(struct stage* s) {
  tell(s, "ring kernel", t3_ring_all_gather(&s->gpu, &s->out));
  tell(s, "timeout", t3_set_timeout(&s->gpu, 100000));
  tell(s, "its end", t3_wait_kernels(&s->gpu));
  tell(s, "abort", t3_abort_kernels(&s->gpu));
}

enum t3_status guest_that_gives_up_a_ring(const struct t3_hal* hal, const struct t3_run* run) {
  struct stage s = {.hal = hal};
  T3_TRY(t3_init(&s.gpu, hal));
  s.out = (struct t3_output){.matrix = {.rows = 8 * tiling_of(run).rows,
                                        .columns = 8 * tiling_of(run).columns,
                                        .element = gemm_of(run).element,
                                        .memory = T3_UNCACHED},
                             .tiling = tiling_of(run)};
  T3_TRY(t3_matrix_malloc(&s.gpu, &s.out.matrix));
  give_up(&s);
  return guest_late_after_reset(hal, run);
}
