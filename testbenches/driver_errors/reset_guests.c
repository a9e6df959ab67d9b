#include "driver_errors/misuse.h"
#include "t3/registers/dma.h"
#include "t3/registers/error_log.h"
#include "t3/registers/output_map.h"
#include "t3/registers/system.h"
#include "t3/registers/tracker.h"

static enum t3_status reset(struct stage* s) {
  const struct t3_hal* hal = s->gpu.hal;
  T3_TRY(hal->write32(hal->platform, t3_block_base(s->gpu.gpu, T3_BLOCK_SYSTEM) + T3_SYSTEM_RESET_OFFSET,
                      T3_SYSTEM_RESET_KEY_ALL));
  hal->wait_ns(hal->platform, 10); /* the line is high for one */
  return T3_OK;
}

/* T3_BUSY where something is left. */
static enum t3_status is_empty(struct stage* s, enum t3_block block, uint32_t offset) {
  const struct t3_hal* hal = s->gpu.hal;
  uint32_t value = 0;
  T3_TRY(hal->read32(hal->platform, t3_block_base(s->gpu.gpu, block) + offset, &value));
  return value == 0 ? T3_OK : T3_BUSY;
}

static void tell_tables(struct stage* s) {
  tell(s, "output map", is_empty(s, T3_BLOCK_OUTPUT_MAP, T3_OUTPUT_MAP_USED_OFFSET));
  tell(s, "tracker", is_empty(s, T3_BLOCK_TRACKER, T3_TRACKER_CHUNKS_OFFSET));
  tell(s, "dma", is_empty(s, T3_BLOCK_DMA, T3_DMA_USED_OFFSET));
  tell(s, "error log", is_empty(s, T3_BLOCK_ERROR_LOG, T3_ERROR_LOG_COUNT_OFFSET));
}

static void used_and_reset(struct stage* s) {
  const struct t3_chunk first = {0, 8}, second = {8, 8};
  const struct t3_dma_options options = {.updates = 2, .block_tiles = 1};
  tell(s, "remote_map", t3_remote_map(&s->gpu, &s->out, first, s->peer_out, T3_UPDATE));
  tell(s, "remote_map again", t3_remote_map(&s->gpu, &s->out, first, s->peer_out, T3_UPDATE));
  tell(s, "dma_map", t3_dma_map(&s->gpu, &s->out, second, s->peer_out, T3_UPDATE, options));
  tell_tables(s);
  tell(s, "reset", reset(s));
  tell_tables(s);
  const struct t3_hal* hal = s->gpu.hal;
  tell(s, "driver", t3_init(&s->gpu, hal));
}

static void reset_in_a_kernel(struct stage* s) {
  const struct t3_matrix* out = &s->out.matrix;
  struct t3_matrix a = {.rows = out->rows, .columns = 32, .element = out->element};
  struct t3_matrix b = {.rows = 32, .columns = out->columns, .element = out->element};
  tell(s, "memory of a", t3_matrix_malloc(&s->gpu, &a));
  tell(s, "memory of b", t3_matrix_malloc(&s->gpu, &b));
  tell(s, "gemm", t3_gemm(&s->gpu, &s->out, &a, &b, (struct t3_gemm_options){.update = false}));
  s->gpu.hal->wait_ns(s->gpu.hal->platform, 3000);
  tell(s, "reset", reset(s));
  const struct t3_hal* hal = s->gpu.hal;
  tell(s, "driver at once", t3_init(&s->gpu, hal));
  hal->wait_ns(hal->platform, 500000);
  tell(s, "driver later", t3_init(&s->gpu, hal));
}

enum t3_status guest_reset(const struct t3_hal* hal, const struct t3_job* job) {
  return misuse_then_work(hal, job, used_and_reset);
}

enum t3_status guest_reset_under_way(const struct t3_hal* hal, const struct t3_job* job) {
  return misuse_then_work(hal, job, reset_in_a_kernel);
}
