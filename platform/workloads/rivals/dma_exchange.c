#include "workloads/rivals/dma_exchange.h"

#include "t3/arguments/sum_partials.h"
#include "t3/traffic_class.h"

static uint64_t flag_bytes(const struct t3_context* gpu) { return t3_piece_flag_bytes(t3_gpus(gpu)); }

enum t3_status t3_prepare_exchange(struct t3_context* gpu, struct t3_dma_exchange* x) {
  T3_TRY(t3_prepare_rival(gpu, &x->r, T3_UNCACHED));
  T3_TRY(t3_open_second_queue(gpu, &x->r));
  const struct t3_grid* grid = &x->r.grid;
  const uint64_t all_flags = x->pieces * flag_bytes(gpu);
  x->slot_bytes = t3_piece_slot_bytes(grid, x->pieces, t3_gpus(gpu));
  T3_TRY(t3_rival_copy_queues(gpu, &x->r, &x->queues));
  T3_TRY(t3_malloc(gpu, grid->rows * grid->stride, &x->partials));
  T3_TRY(t3_malloc(gpu, (uint64_t)x->pieces * t3_gpus(gpu) * x->slot_bytes, &x->slots));
  T3_TRY(t3_malloc(gpu, all_flags, &x->flags));
  return t3_write_zeros(gpu, x->flags, all_flags);
}

struct t3_row_run t3_piece_of_exchange(const struct t3_dma_exchange* x, uint32_t piece) {
  return t3_part_of_rows((struct t3_row_run){0, x->r.grid.rows}, piece, x->pieces);
}

struct t3_row_run t3_owned_rows(const struct t3_context* gpu, const struct t3_dma_exchange* x, uint32_t piece,
                                uint32_t owner) {
  return t3_part_of_rows(t3_piece_of_exchange(x, piece), owner, t3_gpus(gpu));
}

/* The slot of a sender at the owner of rows of this piece, as a local address. */
static uint64_t slot_of(const struct t3_context* gpu, const struct t3_dma_exchange* x, uint32_t piece,
                        uint32_t sender) {
  return x->slots + ((uint64_t)piece * t3_gpus(gpu) + sender) * x->slot_bytes;
}

/* Each peer has a queue of the engine, if there are as many. */
static uint32_t queue_to(const struct t3_context* gpu, const struct t3_dma_exchange* x, uint32_t peer) {
  return (peer + t3_gpus(gpu) - t3_gpu(gpu) - 1) % t3_gpus(gpu) % x->queues;
}

enum t3_status t3_copy_to_owner(struct t3_context* gpu, const struct t3_dma_exchange* x, uint32_t piece, uint32_t owner,
                                struct t3_row_run rows) {
  const struct t3_row_run owned = t3_owned_rows(gpu, x, piece, owner);
  const uint64_t stride = x->r.grid.stride;
  struct t3_dma_copy copy = {
      .to = t3_on_gpu(owner, slot_of(gpu, x, piece, t3_gpu(gpu))) + (rows.first - owned.first) * stride,
      .from = x->partials + rows.first * stride,
      .bytes = rows.count * stride,
      .reads = T3_TRAFFIC_RS_READ,
      .writes = T3_TRAFFIC_RS_WRITE};
  if (rows.count == 0) return T3_OK;
  if (rows.first + rows.count == owned.first + owned.count)
    copy.flag = (struct t3_dma_flag){t3_on_gpu(owner, x->flags + piece * flag_bytes(gpu) + t3_gpu(gpu)), 1, 1};
  return t3_queue_dma_copy(gpu, queue_to(gpu, x, owner), &copy);
}

enum t3_status t3_launch_piece_sum(struct t3_context* gpu, const struct t3_dma_exchange* x, uint32_t piece) {
  const struct t3_row_run own = t3_owned_rows(gpu, x, piece, t3_gpu(gpu));
  struct t3_grid grid = x->r.grid;
  grid.rows = own.count;
  if (own.count == 0) return T3_OK;
  const struct t3_sum_partials_arguments arguments = {.out = x->r.tensors.out.matrix.address + own.first * grid.stride,
                                                      .partials = slot_of(gpu, x, piece, 0),
                                                      .own = x->partials + own.first * grid.stride,
                                                      .flags = x->flags + piece * flag_bytes(gpu),
                                                      .slot_bytes = x->slot_bytes,
                                                      .m = grid.rows,
                                                      .n = grid.columns,
                                                      .ldo = (uint32_t)grid.stride,
                                                      .tiles = t3_tiles_of(&grid),
                                                      .gpu = (uint16_t)t3_gpu(gpu),
                                                      .gpus = (uint16_t)t3_gpus(gpu),
                                                      .tile_rows = (uint16_t)grid.tile_rows,
                                                      .tile_columns = (uint16_t)grid.tile_columns,
                                                      .element = (uint8_t)grid.element,
                                                      .one_flag = 1};
  unsigned char bytes[T3_SUM_PARTIALS_ARGUMENTS_BYTES];
  t3_sum_partials_arguments_to(&arguments, bytes);
  return t3_launch_kernel(gpu, x->r.communication_queue, "sum_partials", bytes, sizeof bytes,
                          (struct t3_kernel_options){0});
}

enum t3_status t3_copy_to_all(struct t3_context* gpu, const struct t3_dma_exchange* x, uint32_t piece) {
  const struct t3_row_run own = t3_owned_rows(gpu, x, piece, t3_gpu(gpu));
  const uint64_t from = x->r.tensors.out.matrix.address + own.first * x->r.grid.stride;
  for (uint32_t i = 1; i < t3_gpus(gpu) && own.count != 0; ++i) {
    const uint32_t peer = (t3_gpu(gpu) + i) % t3_gpus(gpu);
    const struct t3_dma_copy copy = {.to = t3_on_gpu(peer, from & T3_LOCAL_MASK),
                                     .from = from,
                                     .bytes = own.count * x->r.grid.stride,
                                     .reads = T3_TRAFFIC_AG_READ,
                                     .writes = T3_TRAFFIC_AG_WRITE};
    T3_TRY(t3_queue_dma_copy(gpu, queue_to(gpu, x, peer), &copy));
  }
  return T3_OK;
}

enum t3_status t3_end_exchange(struct t3_context* gpu) {
  T3_TRY(t3_wait_dma_copies(gpu));
  return t3_barrier(gpu);
}
