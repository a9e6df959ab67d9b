/* Handlers beside the right job, and calls behind a failure. */
#include <stddef.h>
#include <stdio.h>

#include "driver/context_state.h"
#include "driver_errors/misuse.h"
#include "t3/registers/kernel_queue.h"

/* What the handlers of a guest have heard. */
struct heard {
  struct stage* stage;
  struct operands operands;
  struct t3_matrix filled;
  uint64_t first, kernels; /* the first kernel's number, and how many have ended in their order */
  uint32_t wrong, lines[T3_LINE_COUNT];
  uint32_t inside; /* handlers that run */
  uint32_t deepest;
  uint32_t chain; /* kernels that the handler still queues */
  enum t3_status fill, close, flush, queue;
};

static enum t3_status gemm(struct stage* s, const struct operands* o) {
  return t3_gemm(&s->gpu, &s->out, &o->a, &o->b, (struct t3_gemm_options){0});
}

/* A malformed packet each time the number is 1 after a multiple of 3. */
static bool is_bad(uint64_t number) { return number % 3 == 1; }

static enum t3_status mixed_gemm(struct stage* s, const struct operands* o, uint64_t number) {
  struct operands shifted = *o;
  if (is_bad(number)) shifted.a.address += 8;
  return gemm(s, &shifted);
}

static void hear(struct t3_context* context, const struct t3_interrupt* interrupt, void* argument) {
  struct heard* h = argument;
  ++h->lines[interrupt->line];
  ++h->inside;
  if (h->inside > h->deepest) h->deepest = h->inside;
  if (interrupt->line == T3_LINE_KERNEL_QUEUE) {
    if (interrupt->number != h->first + h->kernels) ++h->wrong;
    ++h->kernels;
    if (interrupt->code != (is_bad(interrupt->number - h->first) ? T3_BAD_PACKET : T3_OK)) ++h->wrong;
    if (h->chain != 0) {
      if (h->fill == T3_OK) h->fill = t3_fill_zero(context, &h->filled);
      h->close = t3_close(context);
      h->flush = t3_flush_cache(context);
      const enum t3_status queued = mixed_gemm(h->stage, &h->operands, t3_last_kernel(context) + 1 - h->first);
      if (queued != T3_OK) h->queue = queued;
      --h->chain;
    }
  }
  --h->inside;
}

static void expect(struct stage* s, const char* what, bool holds) { tell(s, what, holds ? T3_OK : T3_BAD_VALUE); }

static void set(struct stage* s, struct heard* h, enum t3_line line, uint32_t priority) {
  char what[32];
  (void)snprintf(what, sizeof what, "handler of line %d", (int)line);
  tell(s, what, t3_set_handler(&s->gpu, line, priority, hear, h));
}

static void no_handlers(struct stage* s) {
  enum t3_status all = T3_OK;
  for (int line = 0; line < T3_LINE_COUNT; ++line) {
    const enum t3_status status = t3_set_handler(&s->gpu, (enum t3_line)line, 0, NULL, NULL);
    if (status != T3_OK) all = status;
  }
  tell(s, "no handlers", all);
}

static void handled(struct stage* s) {
  enum { kernels = 40, chained = 25 };
  struct heard h = {.stage = s, .operands = operands_of(s), .first = t3_last_kernel(&s->gpu) + 1};
  h.filled = s->out.matrix;
  tell(s, "memory to be filled", t3_matrix_malloc(&s->gpu, &h.filled));
  set(s, &h, T3_LINE_KERNEL_QUEUE, 1);
  set(s, &h, T3_LINE_DMA, 2);
  set(s, &h, T3_LINE_CACHE, 3);
  enum t3_status queued = T3_OK;
  for (uint64_t i = 0; i < kernels && queued == T3_OK; ++i) queued = mixed_gemm(s, &h.operands, i);
  tell(s, "40 kernels", queued);
  tell(s, "their end", t3_wait_kernels(&s->gpu));
  expect(s, "each was heard of in order with its code", h.kernels == kernels && h.wrong == 0);

  tell(s, "fill", t3_fill_zero(&s->gpu, &s->out.matrix));
  expect(s, "it was heard of", h.lines[T3_LINE_DMA] == 1);
  tell(s, "flush", t3_flush_cache(&s->gpu));
  expect(s, "it was heard of", h.lines[T3_LINE_CACHE] == 1);

  tell(s, "mask", t3_mask(&s->gpu, T3_LINE_KERNEL_QUEUE));
  for (uint64_t i = 0; i < 3; ++i) tell(s, "kernel", mixed_gemm(s, &h.operands, h.kernels + i));
  tell(s, "their end", t3_wait_kernels(&s->gpu));
  expect(s, "none was heard of", h.kernels == kernels);
  tell(s, "unmask", t3_unmask(&s->gpu, T3_LINE_KERNEL_QUEUE));
  expect(s, "all were heard of", h.kernels == kernels + 3 && h.wrong == 0);

  h.chain = chained;
  tell(s, "kernel", mixed_gemm(s, &h.operands, h.kernels));
  for (uint32_t i = 0; i < 1000 && h.kernels < kernels + 4 + chained; ++i)
    if (t3_fill_zero(&s->gpu, &h.filled) != T3_OK) ++h.wrong;
  tell(s, "those that the handler queued", h.queue);
  expect(s, "all were heard of while the thread filled", h.kernels == kernels + 4 + chained && h.wrong == 0);
  tell(s, "fill in a fill", h.fill);
  tell(s, "close in a call", h.close);
  tell(s, "flush in a handler", h.flush);
  expect(s, "a handler was in a handler", h.deepest > 1);
  tell(s, "their first failure", t3_wait_kernels(&s->gpu));
  no_handlers(s);
}

enum t3_status guest_with_handlers(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, handled);
}

/* The peer takes no updates for a while. */
static void failing_transfer(struct stage* s) {
  const struct t3_hal* hal = s->hal;
  struct heard h = {.stage = s, .operands = operands_of(s)};
  set(s, &h, T3_LINE_DMA_ERROR, 1);
  set(s, &h, T3_LINE_DMA, 1);
  hal->wait_ns(hal->platform, 10000);
  tell(s, "dma_map",
       t3_dma_map(&s->gpu, &s->out, (struct t3_chunk){0, 8}, s->peer_out, T3_UPDATE,
                  (struct t3_dma_options){.updates = 1, .block_tiles = 1}));
  tell(s, "gemm", t3_gemm(&s->gpu, &s->out, &h.operands.a, &h.operands.b, (struct t3_gemm_options){.update = true}));
  tell(s, "its end", t3_wait_kernels(&s->gpu));
  tell(s, "the DMA's end", t3_wait_dma(&s->gpu));
  expect(s, "the error was heard of", h.lines[T3_LINE_DMA_ERROR] != 0);
  expect(s, "so was the end", h.lines[T3_LINE_DMA] != 0);
  no_handlers(s);
}

enum t3_status guest_with_a_failing_transfer(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, failing_transfer);
}

/* All calls that have nothing to do with the kernel that has failed, and one that has. */
static void behind_a_failure(struct stage* s) {
  struct t3_context* gpu = &s->gpu;
  struct operands o = operands_of(s);
  const struct t3_chunk chunk = {0, 8};
  const struct t3_dma_options options = {.updates = 1, .block_tiles = 1};
  uint64_t address = 0;
  o.a.address += 8;
  tell(s, "a bad kernel", gemm(s, &o));
  o.a.address -= 8;
  s->hal->wait_ns(s->hal->platform, 10000);
  tell(s, "malloc", t3_malloc(gpu, 1000, &address));
  tell(s, "free", t3_free(gpu, address));
  tell(s, "fill", t3_fill_zero(gpu, &o.a));
  tell(s, "remote_map", t3_remote_map(gpu, &s->out, chunk, s->peer_out, T3_UPDATE));
  tell(s, "remote_unmap", t3_remote_unmap(gpu, &s->out, chunk));
  tell(s, "dma_map", t3_dma_map(gpu, &s->out, chunk, s->peer_out, T3_UPDATE, options));
  tell(s, "dma_unmap", t3_dma_unmap(gpu, &s->out, chunk));
  tell(s, "unmap_all", t3_remote_unmap_all(gpu));
  tell(s, "force_unmap_all", t3_force_unmap_all(gpu));
  tell(s, "wait_dma", t3_wait_dma(gpu));
  tell(s, "flush", t3_flush_cache(gpu));
  tell(s, "arbitration", t3_set_arbitration(gpu, T3_MCA, T3_LIMIT_NONE));
  tell(s, "timeout", t3_set_timeout(gpu, T3_FOREVER));
  for (uint32_t i = 0; i < 20; ++i) /* more than there is room for */
    if (gemm(s, &o) != T3_OK) tell(s, "a good kernel", T3_BAD_VALUE);
  tell(s, "rows", t3_rows(gpu, T3_ROWS_SCALE, &o.a, &o.a, NULL, NULL, (struct t3_row_options){.factor = 1}));
  tell(s, "its own end", t3_wait_kernel(gpu, t3_last_kernel(gpu)));
  tell(s, "handler", t3_set_handler(gpu, T3_LINE_CACHE, 1, NULL, NULL));
  tell(s, "all kernels", t3_wait_kernels(gpu));
  tell(s, "all kernels again", t3_wait_kernels(gpu));
}

enum t3_status guest_behind_a_failure(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, behind_a_failure);
}

/* Rings the doorbell and signals a peer before what it has written is ordered. */
static void unordered(struct stage* s) {
  const struct t3_hal* hal = s->hal;
  const uint64_t doorbell = t3_block_base(t3_gpu(&s->gpu), T3_BLOCK_KERNEL_QUEUE) + 0x10,
                 last = state_of(&s->gpu)->queues[0].submitted;
  const uint64_t signal = t3_block_base(t3_ring_previous(&s->gpu), T3_BLOCK_SIGNALS) + 0x1000 + 8;
  const unsigned char byte = 0;
  tell(s, "memory", hal->write_memory(hal->platform, s->out.matrix.address, &byte, 1));
  tell(s, "doorbell", hal->write64(hal->platform, doorbell, last));
  tell(s, "its low half", hal->write32(hal->platform, doorbell, (uint32_t)last));
  tell(s, "its high half", hal->write32(hal->platform, doorbell + 4, 0));
  tell(s, "the last queue's", hal->write64(hal->platform, doorbell + 3 * T3_KERNEL_QUEUE_DOORBELL_STRIDE, 1));
  tell(s, "signal", hal->write64(hal->platform, signal, 1));
  hal->order_writes(hal->platform);
  tell(s, "doorbell", hal->write64(hal->platform, doorbell, last));
  tell(s, "its low half", hal->write32(hal->platform, doorbell, (uint32_t)last));
  tell(s, "its high half", hal->write32(hal->platform, doorbell + 4, 0));
  tell(s, "signal", hal->write64(hal->platform, signal, 1));
}

enum t3_status guest_out_of_order(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, unordered);
}
