/* An all-gather of the rows of a, and the GEMM that takes them. It is one after the other by kernels
 * (gather-then-gemm), or by the DMA engine with flags that the GEMM's workgroups poll (flagged-gather) or that GEMMs of
 * each GPU's rows wait for (decomposed-gather). GPU g has part g of the rows. */
#include "t3/arguments/await_flag.h"
#include "t3/arguments/gemm_gathered.h"
#include "t3/arguments/sum_partials.h"
#include "t3/traffic_class.h"
#include "workloads/rivals/rival_steps.h"

struct gathered {
  struct t3_rival_run r;
  struct t3_row_run own;
  uint64_t flags;
};

static enum t3_status set_up(struct t3_context* gpu, struct gathered* t) {
  const uint64_t bytes = t3_piece_flag_bytes(t3_gpus(gpu));
  T3_TRY(t3_prepare_rival(gpu, &t->r, T3_CACHED));
  t->own = t3_part_of_rows((struct t3_row_run){0, t->r.gemm.m}, t3_gpu(gpu), t3_gpus(gpu));
  T3_TRY(t3_malloc(gpu, bytes, &t->flags));
  T3_TRY(t3_write_zeros(gpu, t->flags, bytes));
  return t3_barrier(gpu);
}

/* The own rows go to all others by compute units. */
static enum t3_status launch_gather(struct t3_context* gpu, const struct gathered* t) {
  const struct t3_matrix* a = &t->r.tensors.a;
  const uint64_t own = a->address + t->own.first * a->row_stride;
  struct t3_grid grid = t->r.grid;
  grid.rows = t->own.count;
  grid.columns = a->columns;
  const struct t3_sum_partials_arguments arguments = {.out = own,
                                                      .partials = own,
                                                      .m = grid.rows,
                                                      .n = grid.columns,
                                                      .ldo = (uint32_t)a->row_stride,
                                                      .tiles = t3_tiles_of(&grid),
                                                      .gpu = (uint16_t)t3_gpu(gpu),
                                                      .gpus = (uint16_t)t3_gpus(gpu),
                                                      .tile_rows = (uint16_t)grid.tile_rows,
                                                      .tile_columns = (uint16_t)grid.tile_columns,
                                                      .element = (uint8_t)a->element,
                                                      .source = T3_SUM_PARTIALS_ARGUMENTS_SOURCE_SUMS,
                                                      .target = T3_SUM_PARTIALS_ARGUMENTS_TARGET_EACH};
  unsigned char bytes[T3_SUM_PARTIALS_ARGUMENTS_BYTES];
  t3_sum_partials_arguments_to(&arguments, bytes);
  if (t->own.count == 0) return T3_OK;
  return t3_launch_kernel(gpu, 0, "sum_partials", bytes, sizeof bytes, (struct t3_kernel_options){0});
}

static enum t3_status gather_then_gemm(struct t3_context* gpu, const struct gathered* t) {
  const struct t3_operands* o = &t->r.tensors;
  struct t3_gemm_options options = t3_gemm_options_of(&t->r.gemm);
  options.group = t->r.rival.group;
  t3_begin(gpu, "all_gather");
  T3_TRY(launch_gather(gpu, t));
  T3_TRY(t3_wait_queue(gpu, 0));
  T3_TRY(t3_barrier(gpu));
  t3_end(gpu, "all_gather");
  t3_begin(gpu, "gemm");
  T3_TRY(t3_launch_gemm(gpu, 0, &o->out, &o->a, &o->b, options));
  T3_TRY(t3_wait_queue(gpu, 0));
  t3_end(gpu, "gemm");
  return T3_OK;
}

static enum t3_status launch_gemm(struct t3_context* gpu, const struct gathered* t) {
  const struct t3_operands* o = &t->r.tensors;
  const struct t3_grid* grid = &t->r.grid;
  const uint32_t first_row = t->r.rival.order == T3_NATURAL_ORDER ? 0 : t->own.first / grid->tile_rows;
  const struct t3_gemm_gathered_arguments arguments = {.out = o->out.matrix.address,
                                                       .a = o->a.address,
                                                       .b = o->b.address,
                                                       .flags = t->flags,
                                                       .m = grid->rows,
                                                       .n = grid->columns,
                                                       .k = t->r.gemm.k,
                                                       .ldo = (uint32_t)grid->stride,
                                                       .lda = (uint32_t)o->a.row_stride,
                                                       .ldb = (uint32_t)o->b.row_stride,
                                                       .first_tile = first_row * t3_tiles_across(grid),
                                                       .gpu = (uint16_t)t3_gpu(gpu),
                                                       .gpus = (uint16_t)t3_gpus(gpu),
                                                       .tile_rows = (uint16_t)grid->tile_rows,
                                                       .tile_columns = (uint16_t)grid->tile_columns,
                                                       .element = (uint8_t)grid->element,
                                                       .wavefronts = (uint8_t)grid->wavefronts,
                                                       .transpose_b = t->r.gemm.transpose_b};
  unsigned char bytes[T3_GEMM_GATHERED_ARGUMENTS_BYTES];
  t3_gemm_gathered_arguments_to(&arguments, bytes);
  return t3_launch_kernel(gpu, 0, "gemm_gathered", bytes, sizeof bytes, (struct t3_kernel_options){0});
}

/* The previous GPU is the first that needs these rows: it has its own, then the next one's. */
static enum t3_status copy_own_rows(struct t3_context* gpu, const struct gathered* t) {
  const struct t3_matrix* a = &t->r.tensors.a;
  const uint64_t from = a->address + t->own.first * a->row_stride;
  uint32_t queues = 0;
  T3_TRY(t3_rival_copy_queues(gpu, &t->r, &queues));
  for (uint32_t i = 1; i < t3_gpus(gpu) && t->own.count != 0; ++i) {
    const uint32_t peer = (t3_gpu(gpu) + t3_gpus(gpu) - i) % t3_gpus(gpu);
    const struct t3_dma_copy copy = {.to = t3_on_gpu(peer, from & T3_LOCAL_MASK),
                                     .from = from,
                                     .bytes = t->own.count * a->row_stride,
                                     .flag = {t3_on_gpu(peer, (t->flags + t3_gpu(gpu)) & T3_LOCAL_MASK), 1, 1},
                                     .reads = T3_TRAFFIC_AG_READ,
                                     .writes = T3_TRAFFIC_AG_WRITE};
    T3_TRY(t3_queue_dma_copy(gpu, (i - 1) % queues, &copy));
  }
  return T3_OK;
}

static enum t3_status flagged_gather(struct t3_context* gpu, const struct gathered* t) {
  t3_begin(gpu, "gemm");
  T3_TRY(launch_gemm(gpu, t));
  T3_TRY(copy_own_rows(gpu, t));
  T3_TRY(t3_wait_queue(gpu, 0));
  t3_end(gpu, "gemm");
  return t3_wait_dma_copies(gpu);
}

static enum t3_status launch_wait(struct t3_context* gpu, const struct gathered* t, uint32_t queue, uint32_t peer) {
  const struct t3_await_flag_arguments arguments = {
      .flags = t->flags, .gpu = (uint16_t)peer, .gpus = (uint16_t)t3_gpus(gpu)};
  unsigned char bytes[T3_AWAIT_FLAG_ARGUMENTS_BYTES];
  t3_await_flag_arguments_to(&arguments, bytes);
  return t3_launch_kernel(gpu, queue, "await_flag", bytes, sizeof bytes, (struct t3_kernel_options){0});
}

/* Two queues of kernels, so that the GEMM of one GPU's rows fills what the end of another one leaves free, and hides
 * its wait. Public descriptions: Wang et al. (ASPLOS 2023), PyTorch's async tensor parallelism. */
static enum t3_status decomposed_gather(struct t3_context* gpu, struct gathered* t) {
  uint32_t queues[2] = {0, 0};
  const uint32_t gpus = t3_gpus(gpu);
  T3_TRY(t3_queue_create(gpu, (struct t3_queue_options){0}, &queues[1]));
  t3_begin(gpu, "gemm");
  T3_TRY(copy_own_rows(gpu, t));
  for (uint32_t i = 0; i < gpus; ++i) {
    const uint32_t peer = (t3_gpu(gpu) + i) % gpus;
    const struct t3_row_run rows = t3_part_of_rows((struct t3_row_run){0, t->r.gemm.m}, peer, gpus);
    t->r.compute_queue = queues[i % 2];
    if (i != 0 && rows.count != 0) T3_TRY(launch_wait(gpu, t, t->r.compute_queue, peer));
    T3_TRY(t3_launch_rows_gemm(gpu, &t->r, rows, t->r.tensors.out.matrix.address));
  }
  for (uint32_t i = 0; i < 2; ++i) T3_TRY(t3_wait_queue(gpu, queues[i]));
  t3_end(gpu, "gemm");
  return t3_wait_dma_copies(gpu);
}

static enum t3_status run_method(struct t3_context* gpu, struct gathered* t) {
  switch (t->r.rival.mechanism) {
    case T3_FLAGGED_GATHER:
      return flagged_gather(gpu, t);
    case T3_DECOMPOSED_GATHER:
      return decomposed_gather(gpu, t);
    default:
      return gather_then_gemm(gpu, t);
  }
}

enum t3_status t3_run_gathered(const struct t3_hal* hal, const struct t3_run* run) {
  struct t3_context context = {0};
  struct gathered t = {.flags = 0};
  T3_TRY(t3_rival_run_of(run, &t.r));
  T3_TRY(t3_set_up(&context, hal, run));
  t3_begin(&context, "setup");
  T3_TRY(set_up(&context, &t));
  t3_end(&context, "setup");

  t3_begin(&context, "total");
  T3_TRY(run_method(&context, &t));
  t3_end(&context, "total");
  T3_TRY(t3_hand_over(&context));
  return t3_close(&context);
}
