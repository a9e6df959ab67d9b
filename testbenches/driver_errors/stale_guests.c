/* Contexts that a reset has ended, beside the next one. */
#include <stddef.h>

#include "driver_errors/misuse.h"

/* A handler's next context, and how many kernels its own handler has heard of. */
struct next {
  struct stage* stage;
  struct t3_context context;
  uint32_t heard, called;
};

static void hear(struct t3_context* context, const struct t3_interrupt* interrupt, void* argument) {
  struct next* next = argument;
  (void)context;
  if (interrupt->code == T3_OK) ++next->heard;
}

static void open_next(struct stage* s, struct next* next) {
  tell(s, "reset", t3_reset(s->hal));
  tell(s, "init", t3_init(&next->context, s->hal));
  tell(s, "handler of the next", t3_set_handler(&next->context, T3_LINE_KERNEL_QUEUE, 1, hear, next));
}

static void open_another(struct t3_context* context, const struct t3_interrupt* interrupt, void* argument) {
  struct next* next = argument;
  (void)context, (void)interrupt;
  ++next->called;
  open_next(next->stage, next);
}

/* Everything that waits by another line, in the next context. */
static void use(struct stage* s, struct next* next, const struct operands* o) {
  struct t3_context* gpu = &next->context;
  tell(s, "gemm", t3_gemm(gpu, &s->out, &o->a, &o->b, (struct t3_gemm_options){0}));
  tell(s, "its end", t3_wait_kernels(gpu));
  tell(s, "fill", t3_fill_zero(gpu, &o->a));
  tell(s, "flush", t3_flush_cache(gpu));
  tell(s, "its handler has heard", next->heard == 1 ? T3_OK : T3_BAD_VALUE);
  next->heard = 0;
}

static void use_stale(struct stage* s) {
  uint64_t address = 0;
  tell(s, "handler of the stale", t3_set_handler(&s->gpu, T3_LINE_KERNEL_QUEUE, 1, hear, NULL));
  tell(s, "its mask", t3_mask(&s->gpu, T3_LINE_CACHE));
  tell(s, "its unmask", t3_unmask(&s->gpu, T3_LINE_CACHE));
  tell(s, "its malloc", t3_malloc(&s->gpu, 64, &address));
}

static enum t3_status raise_line(struct stage* s, enum t3_line line, const struct operands* o) {
  if (line == T3_LINE_DMA) return t3_fill_zero(&s->gpu, &s->out.matrix);
  if (line == T3_LINE_CACHE) return t3_flush_cache(&s->gpu);
  T3_TRY(t3_gemm(&s->gpu, &s->out, &o->a, &o->b, (struct t3_gemm_options){0}));
  return t3_wait_kernels(&s->gpu);
}

static void opened_in_handlers(struct stage* s) {
  static const enum t3_line lines[] = {T3_LINE_KERNEL_QUEUE, T3_LINE_DMA, T3_LINE_CACHE};
  const struct operands o = operands_of(s);
  for (uint32_t i = 0; i < sizeof lines / sizeof lines[0]; ++i) {
    struct next next = {.stage = s};
    tell(s, "handler", t3_set_handler(&s->gpu, lines[i], 1, open_another, &next));
    tell(s, "what it is called for", raise_line(s, lines[i], &o));
    tell(s, "it was called once", next.called == 1 ? T3_OK : T3_BAD_VALUE);
    use(s, &next, &o);
    use_stale(s);
    use(s, &next, &o);
    tell(s, "close of the next", t3_close(&next.context));
    tell(s, "init of the first", t3_init(&s->gpu, s->hal));
  }
  wait_for_resets(s);
}

enum t3_status guest_that_opens_in_handlers(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, opened_in_handlers);
}

static void set_behind_a_reset(struct stage* s) {
  const struct operands o = operands_of(s);
  struct next next = {.stage = s};
  open_next(s, &next);
  use_stale(s);
  use(s, &next, &o);
  tell(s, "close of the next", t3_close(&next.context));
  tell(s, "init of the first", t3_init(&s->gpu, s->hal));
  wait_for_resets(s);
}

enum t3_status guest_that_sets_stale_handlers(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, set_behind_a_reset);
}

/* A kernel that the reset has ended, the first of all or a later one; the others are busy for a long time. */
static void awaited_behind_a_reset(struct stage* s) {
  const struct operands o = operands_of(s);
  for (uint32_t before = 0; before < 2; ++before) {
    if (before != 0) {
      tell(s, "gemm", t3_gemm(&s->gpu, &s->out, &o.a, &o.b, (struct t3_gemm_options){0}));
      tell(s, "its end", t3_wait_kernels(&s->gpu));
    }
    tell(s, "gemm", t3_gemm(&s->gpu, &s->out, &o.a, &o.b, (struct t3_gemm_options){0}));
    tell(s, "reset", t3_reset(s->hal));
    const uint64_t begin = s->hal->time_ns(s->hal->platform);
    tell(s, "its end", t3_wait_kernels(&s->gpu));
    tell(s, "at once", s->hal->time_ns(s->hal->platform) - begin < 10000 ? T3_OK : T3_TIMEOUT);
    tell(s, "its number", t3_wait_kernel(&s->gpu, t3_last_kernel(&s->gpu)));
    tell(s, "init", t3_init(&s->gpu, s->hal));
  }
  wait_for_resets(s);
}

enum t3_status guest_that_waits_behind_a_reset(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, awaited_behind_a_reset);
}

/* Waits for kernels inside of a wait for kernels, and queues one for the second time. */
struct waits {
  struct stage* stage;
  struct operands operands;
  enum t3_status told;
  bool queues;
};

static enum t3_status bad_gemm(struct stage* s, struct operands o) {
  o.a.address += 8;
  return t3_gemm(&s->gpu, &s->out, &o.a, &o.b, (struct t3_gemm_options){0});
}

static void wait_inside(struct t3_context* context, const struct t3_interrupt* interrupt, void* argument) {
  struct waits* w = argument;
  if (interrupt->code != T3_OK && !w->queues) w->told = t3_wait_kernels(context);
  if (!w->queues || interrupt->code != T3_OK) return;
  w->queues = false;
  (void)bad_gemm(w->stage, w->operands);
}

static void told_twice(struct stage* s) {
  struct waits w = {.stage = s, .operands = operands_of(s), .told = T3_OK};
  const struct operands* o = &w.operands;
  tell(s, "handler", t3_set_handler(&s->gpu, T3_LINE_KERNEL_QUEUE, 1, wait_inside, &w));
  tell(s, "bad kernel", bad_gemm(s, *o));
  tell(s, "good kernel", t3_gemm(&s->gpu, &s->out, &o->a, &o->b, (struct t3_gemm_options){0}));
  tell(s, "their end", t3_wait_kernels(&s->gpu));
  tell(s, "their end in the handler", w.told);
  tell(s, "nothing more", t3_wait_kernels(&s->gpu));
  w = (struct waits){.stage = s, .operands = *o, .told = T3_OK, .queues = true};
  tell(s, "good kernel", t3_gemm(&s->gpu, &s->out, &o->a, &o->b, (struct t3_gemm_options){0}));
  tell(s, "its end", t3_wait_kernels(&s->gpu));
  tell(s, "no handler", t3_set_handler(&s->gpu, T3_LINE_KERNEL_QUEUE, 0, NULL, NULL));
  tell(s, "the bad one that its handler has queued", t3_wait_kernels(&s->gpu));
  tell(s, "nothing more", t3_wait_kernels(&s->gpu));
}

enum t3_status guest_that_waits_in_a_wait(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, told_twice);
}
