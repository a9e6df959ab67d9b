#include <stddef.h>

#include "driver_errors/misuse.h"
#include "t3/registers/kernel_queue.h"

static void second_context(struct stage* s) {
  struct t3_context other;
  tell(s, "a second context", t3_init(&other, s->hal));
  tell(s, "what it can do", t3_barrier(&other));
  const struct t3_chunk chunk = {0, 8};
  tell(s, "remote_map", t3_remote_map(&s->gpu, &s->out, chunk, s->peer_out, T3_UPDATE));
  tell(s, "close with a map", t3_close(&s->gpu));
  tell(s, "unmap", t3_remote_unmap_all(&s->gpu));
  const struct operands o = operands_of(s);
  tell(s, "gemm", t3_gemm(&s->gpu, &s->out, &o.a, &o.b, (struct t3_gemm_options){0}));
  tell(s, "close with a kernel", t3_close(&s->gpu));
  tell(s, "its end", t3_wait_kernels(&s->gpu));
  tell(s, "close", t3_close(&s->gpu));
  tell(s, "close again", t3_close(&s->gpu));
  tell(s, "a closed context", t3_gemm(&s->gpu, &s->out, &o.a, &o.b, (struct t3_gemm_options){0}));
  tell(s, "the next context", t3_init(&s->gpu, s->hal));
  struct t3_hal incomplete = *s->hal;
  incomplete.time_ns = NULL;
  tell(s, "a HAL without a clock", t3_init(&other, &incomplete));
}

static void stale(struct stage* s) {
  tell(s, "init of an open context", t3_init(&s->gpu, s->hal));
  uint64_t address = 0;
  tell(s, "it goes on", t3_malloc(&s->gpu, 256, &address));
  const struct operands o = operands_of(s);
  tell(s, "reset", t3_reset(s->hal));
  tell(s, "gemm", t3_gemm(&s->gpu, &s->out, &o.a, &o.b, (struct t3_gemm_options){0}));
  tell(s, "close", t3_close(&s->gpu));
  struct t3_context next;
  tell(s, "init", t3_init(&next, s->hal));
  tell(s, "close of the one before", t3_close(&s->gpu));
  tell(s, "gemm of the next", t3_gemm(&next, &s->out, &o.a, &o.b, (struct t3_gemm_options){0}));
  tell(s, "its end", t3_wait_kernels(&next));
  tell(s, "its close", t3_close(&next));
  tell(s, "init again", t3_init(&s->gpu, s->hal));
}

/* A copy would go on with counts that the other one changes. */
static void copies(struct stage* s) {
  struct t3_context copy = s->gpu;
  uint64_t address = 0;
  tell(s, "a copy", t3_malloc(&copy, 256, &address));
  tell(s, "its barrier", t3_barrier(&copy));
  tell(s, "its close", t3_close(&copy));
  tell(s, "the context", t3_malloc(&s->gpu, 256, &address));
  tell(s, "no kernel of it", t3_last_kernel(&s->gpu) == 0 ? T3_OK : T3_BAD_VALUE);
}

static void init_again(struct t3_context* context, const struct t3_interrupt* interrupt, void* argument) {
  struct stage* s = argument;
  (void)context, (void)interrupt;
  if (s->peer_out == 0) return; /* the second time */
  s->peer_out = 0;
  tell(s, "reset", t3_reset(s->hal));
  tell(s, "init in a handler", t3_init(&s->gpu, s->hal));
}

/* In a wait, whose context would be another one when it goes on. */
static void reset_in_a_handler(struct stage* s) {
  const struct operands o = operands_of(s);
  tell(s, "handler", t3_set_handler(&s->gpu, T3_LINE_KERNEL_QUEUE, 1, init_again, s));
  tell(s, "gemm", t3_gemm(&s->gpu, &s->out, &o.a, &o.b, (struct t3_gemm_options){0}));
  tell(s, "its end", t3_wait_kernels(&s->gpu));
  tell(s, "close", t3_close(&s->gpu));
  tell(s, "init", t3_init(&s->gpu, s->hal));
  wait_for_resets(s);
}

/* A packet that the driver knows nothing of, and another ring. */
static void rung_by_hand(struct stage* s) {
  const struct t3_hal* hal = s->hal;
  const uint64_t queue = t3_block_base(hal->gpu, T3_BLOCK_KERNEL_QUEUE);
  const struct operands o = operands_of(s);
  hal->order_writes(hal->platform);
  tell(s, "doorbell", hal->write64(hal->platform, queue + T3_KERNEL_QUEUE_DOORBELL_OFFSET, 1));
  hal->wait_ns(hal->platform, 10000);
  tell(s, "gemm behind it", t3_gemm(&s->gpu, &s->out, &o.a, &o.b, (struct t3_gemm_options){0}));
  tell(s, "half of the ring", hal->write32(hal->platform, queue + T3_KERNEL_QUEUE_ENTRIES_OFFSET, 8));
  tell(s, "another ring", hal->write64(hal->platform, queue + T3_KERNEL_QUEUE_BASE_OFFSET, s->out.matrix.address));
  tell(s, "close", t3_close(&s->gpu));
  tell(s, "init", t3_init(&s->gpu, hal));
  tell(s, "gemm", t3_gemm(&s->gpu, &s->out, &o.a, &o.b, (struct t3_gemm_options){0}));
  tell(s, "its end", t3_wait_kernels(&s->gpu));
  tell(s, "the number before it", t3_wait_kernel(&s->gpu, t3_last_kernel(&s->gpu) - 1));
}

enum t3_status guest_that_copies_contexts(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, copies);
}

enum t3_status guest_reset_in_a_handler(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, reset_in_a_handler);
}

enum t3_status guest_that_rings_by_hand(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, rung_by_hand);
}

enum t3_status guest_in_a_stale_context(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, stale);
}

enum t3_status guest_second_context(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, second_context);
}

enum t3_status guest_twice(const struct t3_hal* hal, const struct t3_run* run) {
  T3_TRY(t3_run_fused(hal, run));
  return t3_run_fused(hal, run);
}

static void unknown_phases(struct stage* s) {
  static const char long_name[] = "0123456789012345678901234567890123456789012345678901234567890123+";
  const char* const phases[] = {NULL, "", "two words", "a/b", long_name};
  for (uint32_t i = 0; i < sizeof phases / sizeof phases[0]; ++i) {
    s->hal->mark(s->hal->platform, phases[i], true);
    s->hal->mark(s->hal->platform, phases[i], false);
  }
  s->hal->publish(s->hal->platform, NULL);
  s->hal->log(s->hal->platform, NULL);
}

static void nothing(struct stage* s) {
  struct t3_context* gpu = &s->gpu;
  const struct t3_hal* hal = s->hal;
  const struct t3_chunk chunk = {0, 1};
  const struct t3_dma_options dma = {.updates = 1, .block_tiles = 1};
  const struct t3_gemm_options gemm = {0};
  const struct t3_row_options rows = {.factor = 1};
  const struct t3_attention_operands none = {0};
  const struct t3_matrix* a = &s->out.matrix;
  struct t3_context other;
  uint64_t address = 0;
  const enum t3_status answers[] = {t3_init(NULL, hal),
                                    t3_init(&other, NULL),
                                    t3_reset(NULL),
                                    t3_close(NULL),
                                    t3_set_timeout(NULL, 0),
                                    t3_malloc(NULL, 1, &address),
                                    t3_malloc(gpu, 1, NULL),
                                    t3_matrix_malloc(NULL, &s->out.matrix),
                                    t3_matrix_malloc(gpu, NULL),
                                    t3_free(NULL, 0),
                                    t3_fill_zero(NULL, a),
                                    t3_fill_zero(gpu, NULL),
                                    t3_remote_map(NULL, &s->out, chunk, s->peer_out, T3_UPDATE),
                                    t3_remote_map(gpu, NULL, chunk, s->peer_out, T3_UPDATE),
                                    t3_dma_map(NULL, &s->out, chunk, s->peer_out, T3_UPDATE, dma),
                                    t3_dma_map(gpu, NULL, chunk, s->peer_out, T3_UPDATE, dma),
                                    t3_remote_unmap(NULL, &s->out, chunk),
                                    t3_remote_unmap(gpu, NULL, chunk),
                                    t3_dma_unmap(NULL, &s->out, chunk),
                                    t3_dma_unmap(gpu, NULL, chunk),
                                    t3_remote_unmap_all(NULL),
                                    t3_force_unmap_all(NULL),
                                    t3_wait_dma(NULL),
                                    t3_gemm(NULL, &s->out, a, a, gemm),
                                    t3_gemm(gpu, NULL, a, a, gemm),
                                    t3_gemm(gpu, &s->out, NULL, a, gemm),
                                    t3_gemm(gpu, &s->out, a, NULL, gemm),
                                    t3_rows(NULL, T3_ROWS_SCALE, a, a, NULL, NULL, rows),
                                    t3_rows(gpu, T3_ROWS_SCALE, NULL, a, NULL, NULL, rows),
                                    t3_rows(gpu, T3_ROWS_SCALE, a, NULL, NULL, NULL, rows),
                                    t3_attention(NULL, T3_ATTENTION_FORWARD, &s->out, &none),
                                    t3_attention(gpu, T3_ATTENTION_FORWARD, NULL, &none),
                                    t3_attention(gpu, T3_ATTENTION_FORWARD, &s->out, NULL),
                                    t3_attention(gpu, T3_ATTENTION_FORWARD, &s->out, &none),
                                    t3_ring_reduce_scatter(NULL, &s->out, NULL),
                                    t3_ring_reduce_scatter(gpu, NULL, NULL),
                                    t3_ring_all_gather(NULL, &s->out),
                                    t3_ring_all_gather(gpu, NULL),
                                    t3_wait_kernels(NULL),
                                    t3_wait_kernel(NULL, 1),
                                    t3_abort_kernels(NULL),
                                    t3_set_ring_workgroups(NULL, 1),
                                    t3_flush_cache(NULL),
                                    t3_set_arbitration(NULL, T3_MCA, 0),
                                    t3_barrier(NULL),
                                    t3_next_error(NULL, NULL),
                                    t3_next_error(gpu, NULL),
                                    hal->read32(hal->platform, t3_block_base(t3_gpu(gpu), T3_BLOCK_SYSTEM), NULL),
                                    hal->read64(hal->platform, a->address, NULL)};
  uint32_t taken = 0;
  for (uint32_t i = 0; i < sizeof answers / sizeof answers[0]; ++i)
    if (answers[i] != T3_INVALID_ARGUMENT) ++taken;
  tell(s, "calls without something they need", taken == 0 ? T3_INVALID_ARGUMENT : T3_OK);
  const bool zero = t3_ring_previous(NULL) == 0 && t3_workgroups(NULL) == 0 && t3_peer_address(NULL, 1) == 0 &&
                    t3_last_kernel(NULL) == 0 && t3_chunk_of(NULL, 0, 1).workgroups == 0 &&
                    t3_ring_chunk(NULL, &s->out, 0).workgroups == 0 && t3_ring_chunk(gpu, NULL, 0).workgroups == 0;
  tell(s, "what is not there counts nothing", zero ? T3_OK : T3_BAD_VALUE);
  tell(s, "read to nowhere", hal->read_memory(hal->platform, a->address, NULL, 8));
  tell(s, "write from nowhere", hal->write_memory(hal->platform, a->address, NULL, 8));
  tell(s, "read of nothing", hal->read_memory(hal->platform, a->address, &address, 0));
  tell(s, "write of nothing", hal->write_memory(hal->platform, a->address, &address, 0));
  tell(s, "read of nothing to nowhere", hal->read_memory(hal->platform, t3_on_gpu(99, 0), NULL, 0));
  tell(s, "write of nothing from nowhere", hal->write_memory(hal->platform, t3_on_gpu(99, 0), NULL, 0));
  tell(s, "wait without a reason", hal->wait_for_interrupt(hal->platform, 0, NULL));
}

enum t3_status guest_of_nothing(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, nothing);
}

enum t3_status guest_unknown_phases(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, unknown_phases);
}
