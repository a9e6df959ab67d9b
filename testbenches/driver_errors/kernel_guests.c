#include <stddef.h>

#include "driver_errors/misuse.h"
#include "t3/arguments/ring_all_gather.h"
#include "t3/kernel_handle.h"
#include "t3/registers/kernel_queue.h"
#include "t3/registers/near_memory.h"

static enum t3_status gemm(struct stage* s, const struct operands* o, struct t3_gemm_options options) {
  const enum t3_status queued = t3_gemm(&s->gpu, &s->out, &o->a, &o->b, options);
  return queued != T3_OK ? queued : t3_wait_kernels(&s->gpu);
}

static void packets(struct stage* s) {
  struct operands o = operands_of(s);
  unsigned char arguments[T3_RING_ALL_GATHER_ARGUMENTS_BYTES] = {0};
  const struct t3_ring_all_gather_arguments alone = {
      .m = 64, .n = 64, .ldo = 128, .tile_rows = 64, .tile_columns = 64, .gpus = 1};
  tell(s, "packet of zeros", submit_raw(s, (struct t3_kernel_packet){0}, arguments));
  t3_ring_all_gather_arguments_to(&alone, arguments);
  tell(s, "ring of one GPU",
       submit_raw(s,
                  (struct t3_kernel_packet){.kernel = t3_kernel_handle("ring-all-gather"),
                                            .argument_bytes = sizeof arguments,
                                            .completion_signal = T3_KERNEL_PACKET_COMPLETION_SIGNAL_NONE,
                                            .workgroups = 4},
                  arguments));
  o.a.address += 8;
  tell(s, "gemm of a shifted matrix", gemm(s, &o, (struct t3_gemm_options){0}));
  o.a.address -= 8;
  s->out.tiling.wavefronts = 3;
  tell(s, "gemm of 3 wavefronts in 64 rows", gemm(s, &o, (struct t3_gemm_options){0}));
  s->out.tiling.wavefronts = 4;
  o.b.columns -= 1;
  tell(s, "gemm of matrices that do not fit", gemm(s, &o, (struct t3_gemm_options){0}));
  o.b.columns += 1;
  tell(s, "gemm after all", gemm(s, &o, (struct t3_gemm_options){0}));
}

static void outside_memory(struct stage* s) {
  struct operands o = operands_of(s);
  o.b.address = t3_on_gpu(t3_gpu(&s->gpu), UINT64_C(1) << 30);
  tell(s, "gemm of a matrix that is nowhere", gemm(s, &o, (struct t3_gemm_options){0}));
}

static enum t3_status switch_updates(struct stage* s, uint32_t on) {
  const struct t3_hal* hal = t3_hal_of(&s->gpu);
  return hal->write32(hal->platform,
                      t3_block_base(t3_gpu(&s->gpu), T3_BLOCK_NEAR_MEMORY) + T3_NEAR_MEMORY_CONTROL_OFFSET, on);
}

static void switched_off(struct stage* s) {
  const struct operands o = operands_of(s);
  tell(s, "near-memory units off", switch_updates(s, 0));
  tell(s, "gemm with updates", gemm(s, &o, (struct t3_gemm_options){.update = true}));
  tell(s, "near-memory units on", switch_updates(s, 1));
  tell(s, "gemm with updates", gemm(s, &o, (struct t3_gemm_options){.update = true}));
}

/* More kernels than the ring holds; every third is malformed. */
static void mixed(struct stage* s) {
  enum { kernels = 40 };
  const struct operands good = operands_of(s);
  struct operands bad = good;
  bad.a.address += 8;
  struct t3_matrix unrelated = s->out.matrix;
  tell(s, "memory of the fill", t3_matrix_malloc(&s->gpu, &unrelated));
  const uint64_t before = t3_last_kernel(&s->gpu);
  enum t3_status queued = T3_OK;
  for (uint32_t i = 0; i < kernels && queued == T3_OK; ++i) {
    const struct operands* o = i % 3 == 1 ? &bad : &good;
    queued = t3_gemm(&s->gpu, &s->out, &o->a, &o->b, (struct t3_gemm_options){0});
  }
  tell(s, "40 kernels", queued);
  tell(s, "an unrelated fill", t3_fill_zero(&s->gpu, &unrelated));
  tell(s, "all of them", t3_wait_kernels(&s->gpu));
  tell(s, "once more", t3_wait_kernels(&s->gpu));
  uint32_t wrong = 0;
  for (uint32_t i = 0; i < kernels; ++i)
    if (t3_wait_kernel(&s->gpu, before + 1 + i) != (i % 3 == 1 ? T3_BAD_PACKET : T3_OK)) ++wrong;
  tell(s, "each has its code", wrong == 0 ? T3_OK : T3_BAD_VALUE);
  tell(s, "kernel 0", t3_wait_kernel(&s->gpu, 0));
  tell(s, "a kernel that is not there", t3_wait_kernel(&s->gpu, before + kernels + 1));
  tell(s, "the last one", t3_wait_kernel(&s->gpu, t3_last_kernel(&s->gpu)));
}

/* Until all kernels have ended; then as if nothing had been raised. */
static void clear_by_hand(struct stage* s) {
  const struct t3_hal* hal = s->hal;
  hal->wait_ns(hal->platform, 100000);
  const uint64_t interrupt = t3_block_base(t3_gpu(&s->gpu), T3_BLOCK_KERNEL_QUEUE) + T3_KERNEL_QUEUE_INTERRUPT_OFFSET;
  uint32_t bits = 0;
  tell(s, "read", hal->read32(hal->platform, interrupt, &bits));
  tell(s, "clear", hal->write32(hal->platform, interrupt, bits));
}

static void queue(struct stage* s, const struct operands* o, bool good) {
  struct operands other = *o;
  if (!good) other.a.address += 8;
  const enum t3_status queued = t3_gemm(&s->gpu, &s->out, &other.a, &other.b, (struct t3_gemm_options){0});
  if (queued != T3_OK) tell(s, "gemm", queued);
}

static void cleared(struct stage* s) {
  const struct operands o = operands_of(s);
  queue(s, &o, false);
  clear_by_hand(s);
  tell(s, "one that failed", t3_wait_kernels(&s->gpu));
  tell(s, "once more", t3_wait_kernels(&s->gpu));
  queue(s, &o, false);
  queue(s, &o, true);
  clear_by_hand(s);
  queue(s, &o, true);
  tell(s, "the first of three", t3_wait_kernels(&s->gpu));
  queue(s, &o, true);
  queue(s, &o, false);
  clear_by_hand(s);
  queue(s, &o, false);
  tell(s, "two of three", t3_wait_kernels(&s->gpu));
  for (uint32_t i = 0; i < 40; ++i) queue(s, &o, i != 20);
  clear_by_hand(s);
  tell(s, "one of forty", t3_wait_kernels(&s->gpu));
  tell(s, "once more", t3_wait_kernels(&s->gpu));
  tell(s, "close", t3_close(&s->gpu));
  tell(s, "init", t3_init(&s->gpu, s->hal));
  queue(s, &o, true);
  tell(s, "of the next context", t3_wait_kernels(&s->gpu));
  queue(s, &o, false);
  clear_by_hand(s);
  tell(s, "its failure", t3_wait_kernels(&s->gpu));
}

/* A packet of zeros in the place of the driver's next one. */
static void announce_by_hand(struct stage* s, uint64_t number) {
  const struct t3_hal* hal = s->hal;
  const uint64_t queue = t3_block_base(t3_gpu(&s->gpu), T3_BLOCK_KERNEL_QUEUE);
  const unsigned char zeros[T3_KERNEL_PACKET_BYTES] = {0};
  uint64_t ring = 0;
  tell(s, "ring", hal->read64(hal->platform, queue + T3_KERNEL_QUEUE_BASE_OFFSET, &ring));
  tell(s, "packet",
       hal->write_memory(hal->platform, ring + (number - 1) * T3_KERNEL_PACKET_ENTRY_BYTES, zeros, sizeof zeros));
  hal->order_writes(hal->platform);
  tell(s, "doorbell", hal->write64(hal->platform, queue + T3_KERNEL_QUEUE_DOORBELL_OFFSET, number));
  hal->wait_ns(hal->platform, 100000);
}

static void by_hand(struct stage* s) {
  const struct operands o = operands_of(s);
  queue(s, &o, true);
  tell(s, "the driver's", t3_wait_kernels(&s->gpu));
  announce_by_hand(s, 2);
  tell(s, "its failure", t3_wait_kernels(&s->gpu));
  tell(s, "once more", t3_wait_kernels(&s->gpu));
  announce_by_hand(s, 3);
  clear_by_hand(s);
  tell(s, "its failure", t3_wait_kernels(&s->gpu));
  tell(s, "once more", t3_wait_kernels(&s->gpu));
}

static void wrong_parameters(struct stage* s) {
  struct t3_context* gpu = &s->gpu;
  unsigned char arguments[200] = {0};
  tell(s, "round-robin with a limit", t3_set_arbitration(gpu, T3_ROUND_ROBIN, 3));
  tell(s, "compute first without end", t3_set_arbitration(gpu, T3_COMPUTE_FIRST, T3_LIMIT_NONE));
  tell(s, "select without end", t3_set_arbitration(gpu, T3_SELECT, T3_LIMIT_NONE));
  tell(s, "mca without end", t3_set_arbitration(gpu, T3_MCA, T3_LIMIT_NONE));
  tell(s, "select", t3_set_arbitration(gpu, T3_SELECT, T3_LIMIT_BY_BANDS));
  tell(s, "round-robin", t3_set_arbitration(gpu, T3_ROUND_ROBIN, 0));
  tell(s, "97 bytes in the packet",
       t3_run_kernel(gpu, "gemm", arguments, T3_ARGUMENT_ROOM + 1, (struct t3_kernel_options){0}));
  tell(s, "a ring kernel of no workgroups",
       t3_run_kernel(gpu, "ring-all-gather", arguments, T3_RING_ALL_GATHER_ARGUMENTS_BYTES,
                     (struct t3_kernel_options){0}));
  tell(s, "its end", t3_wait_kernels(gpu));
}

static void aborted(struct stage* s) {
  const struct t3_hal* hal = t3_hal_of(&s->gpu);
  const struct operands o = operands_of(s);
  const struct t3_gemm_options options = {0};
  tell(s, "nothing to abort", t3_abort_kernels(&s->gpu));
  for (uint64_t wait = 0; wait <= 6000; wait += 2000) {
    const uint64_t before = t3_last_kernel(&s->gpu);
    for (uint32_t i = 0; i < 3; ++i) tell(s, "gemm", t3_gemm(&s->gpu, &s->out, &o.a, &o.b, options));
    hal->wait_ns(hal->platform, wait);
    tell(s, "abort", t3_abort_kernels(&s->gpu));
    for (uint64_t n = 1; n <= 3; ++n) tell(s, "its code", t3_wait_kernel(&s->gpu, before + n));
    tell(s, "all of them", t3_wait_kernels(&s->gpu));
    tell(s, "gemm after that", gemm(s, &o, options));
  }
}

/* The others do not take part. */
static void aborted_ring(struct stage* s) {
  const struct t3_hal* hal = s->hal;
  tell(s, "ring kernel", t3_ring_all_gather(&s->gpu, &s->out));
  tell(s, "timeout", t3_set_timeout(&s->gpu, 100000));
  tell(s, "it waits for its neighbour", t3_wait_kernels(&s->gpu));
  tell(s, "abort", t3_abort_kernels(&s->gpu));
  tell(s, "its code", t3_wait_kernels(&s->gpu));
  const struct operands o = operands_of(s);
  tell(s, "gemm", gemm(s, &o, (struct t3_gemm_options){0}));
  tell(s, "another ring kernel", t3_ring_all_gather(&s->gpu, &s->out));
  tell(s, "close", t3_close(&s->gpu));
  tell(s, "init", t3_init(&s->gpu, hal));
  tell(s, "ring kernel of the next context", t3_ring_all_gather(&s->gpu, &s->out));
  tell(s, "reset", t3_reset(hal));
  tell(s, "init", t3_init(&s->gpu, hal));
  wait_for_resets(s);
}

static void huge(struct stage* s) {
  const struct operands good = operands_of(s);
  const struct t3_gemm_options options = {0};
  struct t3_output out = s->out;
  struct operands o = good;
  out.matrix.rows = out.matrix.columns = 0x10000;
  out.tiling = (struct t3_tiling){.rows = 1, .columns = 1, .wavefronts = 1};
  o.a.rows = o.b.columns = 0x10000;
  tell(s, "gemm of 2^32 tiles", t3_gemm(&s->gpu, &out, &o.a, &o.b, options));
  tell(s, "2^32 workgroups are none", t3_workgroups(&out) == 0 ? T3_OK : T3_BAD_VALUE);
  out = s->out, o = good;
  const struct t3_batch batch = {.matrices = 65535};
  out.matrix.rows = out.matrix.columns = 0x8000;
  out.tiling = (struct t3_tiling){.rows = 32, .columns = 8, .wavefronts = 1};
  o.a.rows = o.b.columns = 0x8000;
  tell(s, "a batch of 2^32 workgroups", t3_gemm(&s->gpu, &out, &o.a, &o.b, (struct t3_gemm_options){.batch = batch}));
  o = good;
  o.a.row_stride = UINT64_C(1) << 58;
  tell(s, "gemm with rows 2^58 apart", t3_gemm(&s->gpu, &s->out, &o.a, &o.b, options));
  o = good;
  o.a.rows = o.b.rows = 0xFFFFFFFF, o.a.columns = s->out.matrix.rows;
  tell(s, "gemm of k 2^32 - 1", t3_gemm(&s->gpu, &s->out, &o.a, &o.b, (struct t3_gemm_options){.transpose_a = true}));
  tell(s, "its end", t3_wait_kernels(&s->gpu));
  struct t3_matrix row = {.address = s->out.matrix.address, .row_stride = 0x80000000, .rows = 1, .columns = 0x40000000};
  tell(s, "rows larger than memory",
       t3_rows(&s->gpu, T3_ROWS_SCALE, &row, &row, NULL, NULL, (struct t3_row_options){.factor = 1}));
  tell(s, "their end", t3_wait_kernels(&s->gpu));
  struct t3_matrix wide = s->out.matrix;
  wide.row_stride = UINT64_C(1) << 58;
  tell(s, "fill of rows 2^58 apart", t3_fill_zero(&s->gpu, &wide));
  struct t3_matrix large = {.rows = 0xFFFFFFFF, .columns = 0xFFFFFFFF, .element = T3_FP32};
  tell(s, "a matrix of 2^66 bytes", t3_matrix_malloc(&s->gpu, &large));
  tell(s, "no chunk of none", t3_chunk_of(&s->out, 0, 0).workgroups == 0 ? T3_OK : T3_BAD_VALUE);
  tell(s, "gemm of an element type of 256",
       (o = good, o.a.element = o.b.element = (enum t3_element)256, out = s->out, out.matrix.element = o.a.element,
        t3_gemm(&s->gpu, &out, &o.a, &o.b, options)));
}

enum t3_status guest_mixed_kernels(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, mixed);
}

enum t3_status guest_that_clears_failures(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, cleared);
}

enum t3_status guest_with_wrong_parameters(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, wrong_parameters);
}

enum t3_status guest_huge_sizes(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, huge);
}

enum t3_status guest_aborted_kernels(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, aborted);
}

enum t3_status guest_aborted_ring(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, aborted_ring);
}

enum t3_status guest_with_packets_by_hand(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, by_hand);
}

enum t3_status guest_bad_packets(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, packets);
}

enum t3_status guest_gemm_outside_memory(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, outside_memory);
}

enum t3_status guest_updates_switched_off(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, switched_off);
}
