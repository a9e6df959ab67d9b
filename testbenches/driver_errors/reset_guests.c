#include "driver_errors/misuse.h"
#include "t3/registers/dma.h"
#include "t3/registers/error_log.h"
#include "t3/registers/kernel_queue.h"
#include "t3/registers/output_map.h"
#include "t3/registers/tracker.h"

/* T3_BUSY where something is left. */
static enum t3_status is_empty(struct stage* s, enum t3_block block, uint32_t offset) {
  const struct t3_hal* hal = t3_hal_of(&s->gpu);
  uint32_t value = 0;
  T3_TRY(hal->read32(hal->platform, t3_block_base(t3_gpu(&s->gpu), block) + offset, &value));
  return value == 0 ? T3_OK : T3_BUSY;
}

static void tell_tables(struct stage* s) {
  tell(s, "output map", is_empty(s, T3_BLOCK_OUTPUT_MAP, T3_OUTPUT_MAP_USED_OFFSET));
  tell(s, "tracker", is_empty(s, T3_BLOCK_TRACKER, T3_TRACKER_CHUNKS_OFFSET));
  tell(s, "dma", is_empty(s, T3_BLOCK_DMA, T3_DMA_USED_OFFSET));
  tell(s, "error log", is_empty(s, T3_BLOCK_ERROR_LOG, T3_ERROR_LOG_COUNT_OFFSET));
}

static void used_and_reset(struct stage* s) {
  const struct t3_hal* hal = t3_hal_of(&s->gpu);
  const struct t3_chunk first = {0, 8}, second = {8, 8};
  const struct t3_dma_options options = {.updates = 2, .block_tiles = 1};
  tell(s, "remote_map", t3_remote_map(&s->gpu, &s->out, first, s->peer_out, T3_UPDATE));
  tell(s, "remote_map again", t3_remote_map(&s->gpu, &s->out, first, s->peer_out, T3_UPDATE));
  tell(s, "dma_map", t3_dma_map(&s->gpu, &s->out, second, s->peer_out, T3_UPDATE, options));
  tell_tables(s);
  tell(s, "reset", t3_reset(hal));
  tell_tables(s);
  tell(s, "driver", t3_init(&s->gpu, hal));
}

static enum t3_status completed(struct stage* s, uint64_t* count) {
  const struct t3_hal* hal = t3_hal_of(&s->gpu);
  return hal->read64(hal->platform,
                     t3_block_base(t3_gpu(&s->gpu), T3_BLOCK_KERNEL_QUEUE) + T3_KERNEL_QUEUE_COMPLETED_OFFSET, count);
}

/* A GEMM, and a ring kernel whose signals never come; after the reset nothing of them shows. */
static void reset_in_a_kernel(struct stage* s) {
  const struct t3_hal* hal = t3_hal_of(&s->gpu);
  const struct operands o = operands_of(s);
  for (uint32_t i = 0; i < 2; ++i) {
    if (i == 0)
      tell(s, "gemm", t3_gemm(&s->gpu, &s->out, &o.a, &o.b, (struct t3_gemm_options){.update = false}));
    else
      tell(s, "ring kernel", t3_ring_all_gather(&s->gpu, &s->out));
    hal->wait_ns(hal->platform, i == 0 ? 3000 : 200000);
    tell(s, "reset", t3_reset(hal));
    tell(s, "driver at once", t3_init(&s->gpu, hal));
    hal->wait_ns(hal->platform, 500000);
    uint64_t count = 1;
    tell(s, "read completed", completed(s, &count));
    tell(s, "nothing has completed", count == 0 ? T3_OK : T3_BUSY);
    tell(s, "nothing has failed", t3_wait_kernels(&s->gpu));
    tell_tables(s);
  }
  wait_for_resets(s);
}

enum t3_status guest_reset(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, used_and_reset);
}

enum t3_status guest_reset_under_way(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, reset_in_a_kernel);
}

#define RESETS_NS 3000000 /* when the other GPUs are reset */

enum t3_status guest_late_after_reset(const struct t3_hal* hal, const struct t3_run* run) {
  const uint64_t now = hal->time_ns(hal->platform);
  if (now < RESETS_NS) hal->wait_ns(hal->platform, RESETS_NS - now);
  T3_TRY(t3_reset(hal));
  return t3_run_fused(hal, run);
}

void wait_for_resets(struct stage* s) {
  const uint64_t now = s->hal->time_ns(s->hal->platform);
  if (now <= RESETS_NS) s->hal->wait_ns(s->hal->platform, RESETS_NS + 1000 - now);
}
