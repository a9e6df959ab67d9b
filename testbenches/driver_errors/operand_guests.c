/* Operands and chunks that an operation cannot use, and what the driver keeps for itself. */
#include <stddef.h>

#include "driver_errors/misuse.h"
#include "t3/registers/kernel_queue.h"
#include "t3/registers/tracker.h"

static const struct t3_dma_options one_update = {.updates = 1, .block_tiles = 1};

static enum t3_status rows(struct stage* s, enum t3_row_operation operation, const struct t3_matrix* out,
                           const struct t3_matrix* b) {
  return t3_rows(&s->gpu, operation, out, &s->out.matrix, b, NULL, (struct t3_row_options){.factor = 1});
}

static enum t3_status map_counted(struct stage* s, const struct t3_output* out, int counted) {
  struct t3_dma_options options = one_update;
  options.counted = (enum t3_operation)counted;
  return t3_dma_map(&s->gpu, out, (struct t3_chunk){0, 1}, 0, T3_NOTIFY, options);
}

static void wrong_operands(struct stage* s) {
  struct t3_output cached = s->out;
  tell(s, "memory", t3_matrix_malloc(&s->gpu, &cached.matrix));
  cached.matrix.memory = T3_CACHED;
  tell(s, "rows into an uncached output", rows(s, T3_ROWS_SCALE, &s->out.matrix, NULL));
  tell(s, "a sum without its second term", rows(s, T3_ROWS_ADD, &cached.matrix, NULL));
  tell(s, "a softmax of two", rows(s, T3_ROWS_SOFTMAX, &cached.matrix, &s->out.matrix));
  tell(s, "a layer norm without its vectors", rows(s, T3_ROWS_LAYER_NORM, &cached.matrix, NULL));
  const struct t3_attention_operands forward = {.qkv = &s->out.matrix, .gradient = &s->out.matrix, .factor = 1},
                                     result = {.qkv = &s->out.matrix, .result = &s->out.matrix, .factor = 1};
  tell(s, "attention forward with a gradient", t3_attention(&s->gpu, T3_ATTENTION_FORWARD, &cached, &forward));
  tell(s, "attention forward with a result", t3_attention(&s->gpu, T3_ATTENTION_FORWARD, &cached, &result));
  const struct t3_gemm_options strides = {.batch = {.out_stride = 64}};
  tell(s, "a gemm with the strides of no batch", t3_gemm(&s->gpu, &cached, &s->out.matrix, &s->out.matrix, strides));
  tell(s, "updates near memory of a cached output", t3_ring_reduce_scatter(&s->gpu, &cached, NULL));
  tell(s, "stores of a cached output counted", map_counted(s, &cached, T3_STORE));
  tell(s, "an operation 7 counted", map_counted(s, &s->out, 7));
  tell(s, "remote_map of workgroups 64 to 67",
       t3_remote_map(&s->gpu, &s->out, (struct t3_chunk){64, 4}, s->peer_out, T3_STORE));
  tell(s, "remote_map of workgroups 60 to 64",
       t3_remote_map(&s->gpu, &s->out, (struct t3_chunk){60, 5}, s->peer_out, T3_STORE));
  tell(s, "remote_map of the last", t3_remote_map(&s->gpu, &s->out, (struct t3_chunk){60, 4}, s->peer_out, T3_STORE));
  tell(s, "dma_map of the same", t3_dma_map(&s->gpu, &s->out, (struct t3_chunk){60, 4}, 0, T3_NOTIFY, one_update));
}

enum { pattern = 0x5A };

/* T3_OK when exactly the `columns` half-precision elements from the view's first on are zero in each of its rows of 64,
 * which had the pattern; with no columns, when nothing is. */
static enum t3_status zeros(struct stage* s, const struct t3_matrix* all, uint32_t first, uint32_t columns) {
  unsigned char row[128];
  for (uint32_t i = 0; i < all->rows; ++i) {
    T3_TRY(s->hal->read_memory(s->hal->platform, all->address + i * all->row_stride, row, sizeof row));
    for (uint32_t j = 0; j < sizeof row; ++j)
      if (row[j] != (j / 2 >= first && j / 2 < first + columns ? 0 : pattern)) return T3_BAD_VALUE;
  }
  return T3_OK;
}

static enum t3_status fill_with_pattern(struct stage* s, const struct t3_matrix* all) {
  unsigned char row[128];
  for (uint32_t j = 0; j < sizeof row; ++j) row[j] = pattern;
  for (uint32_t i = 0; i < all->rows; ++i)
    T3_TRY(s->hal->write_memory(s->hal->platform, all->address + i * all->row_stride, row, sizeof row));
  s->hal->order_writes(s->hal->platform);
  return T3_OK;
}

static void zeroed_views(struct stage* s) {
  struct t3_matrix all = {.rows = 8, .columns = 64, .element = T3_FP16};
  tell(s, "memory", t3_matrix_malloc(&s->gpu, &all));
  tell(s, "pattern", fill_with_pattern(s, &all));
  struct t3_matrix view = all;
  view.columns = 16;
  view.address += 32;
  tell(s, "fill of a view", t3_fill_zero(&s->gpu, &view));
  tell(s, "arm of a view", t3_arm_zero(&s->gpu, &view));
  view = all;
  view.row_stride = 4;
  tell(s, "fill of rows that overlap", t3_fill_zero(&s->gpu, &view));
  view.row_stride = 64;
  tell(s, "fill of rows that overlap by half", t3_fill_zero(&s->gpu, &view));
  view = all;
  view.rows = 0;
  tell(s, "fill of no rows", t3_fill_zero(&s->gpu, &view));
  tell(s, "nothing is zero", zeros(s, &all, 0, 0));
  view = all;
  view.rows = 1;
  view.columns = 16;
  for (uint32_t i = 0; i < all.rows; ++i) {
    view.address = all.address + i * all.row_stride + 32;
    tell(s, "fill of a row of the view", t3_fill_zero(&s->gpu, &view));
  }
  tell(s, "the view alone is zero", zeros(s, &all, 16, 16));
  tell(s, "fill of all", t3_fill_zero(&s->gpu, &all));
  tell(s, "all is zero", zeros(s, &all, 0, 64));
}

static uint64_t base_of(struct stage* s, enum t3_block block, uint32_t offset) {
  uint64_t base = 0;
  tell(s, "base", s->hal->read64(s->hal->platform, t3_block_base(t3_gpu(&s->gpu), block) + offset, &base));
  return base;
}

/* The same calls of t3_malloc give the same addresses, with maps in between or without. */
static void own_memory(struct stage* s) {
  uint64_t expected = 0, address = 0;
  tell(s, "memory", t3_malloc(&s->gpu, 256, &expected));
  tell(s, "free", t3_free(&s->gpu, expected));
  struct t3_output out = s->out;
  for (uint32_t tiles = 2; tiles <= 8; tiles *= 2) {
    out.matrix.rows = tiles * out.tiling.rows;
    tell(s, "dma_map", t3_dma_map(&s->gpu, &out, (struct t3_chunk){0, 1}, 0, T3_NOTIFY, one_update));
    tell(s, "free of the spill table", t3_free(&s->gpu, base_of(s, T3_BLOCK_TRACKER, T3_TRACKER_SPILL_BASE_OFFSET)));
    tell(s, "unmap", t3_remote_unmap_all(&s->gpu));
  }
  tell(s, "free of the packet ring", t3_free(&s->gpu, base_of(s, T3_BLOCK_KERNEL_QUEUE, T3_KERNEL_QUEUE_BASE_OFFSET)));
  tell(s, "memory", t3_malloc(&s->gpu, 256, &address));
  tell(s, "where it would be without maps", address == expected ? T3_OK : T3_BAD_ADDRESS);
}

enum t3_status guest_with_wrong_operands(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, wrong_operands);
}

enum t3_status guest_that_zeroes_views(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, zeroed_views);
}

enum t3_status guest_in_the_drivers_memory(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, own_memory);
}
