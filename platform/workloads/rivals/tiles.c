/* Rivals whose workgroups send tiles to their owners: stored-tiles, direct-update and load-reduce. */
#include "t3/arguments/gemm_to_owners.h"

#include "t3/arguments/sum_partials.h"
#include "workloads/rivals/rival_steps.h"

_Static_assert(T3_GEMM_TO_OWNERS_ARGUMENTS_BYTES <= T3_ARGUMENT_ROOM, "arguments go with the packet");
_Static_assert(T3_SUM_PARTIALS_ARGUMENTS_BYTES <= T3_ARGUMENT_ROOM, "arguments go with the packet");

struct tiles {
  struct t3_rival_run r;
  struct t3_tile_run own;
  uint64_t partials; /* slots, or a matrix as the output, or the output */
  uint64_t slot_bytes;
  uint64_t flags; /* 0: the GPUs meet before sums are read */
  struct t3_gemm_collectives collectives;
};

static enum t3_rival_mechanism mechanism(const struct tiles* t) {
  return (enum t3_rival_mechanism)t->r.rival.mechanism;
}
static enum t3_rival_gather gather(const struct tiles* t) { return (enum t3_rival_gather)t->r.rival.gather; }

/* A sum in the output needs a kernel to send it, no kernel to add it. */
static bool has_sum_kernel(const struct tiles* t) {
  return mechanism(t) != T3_DIRECT_UPDATE || gather(t) != T3_GATHER_BY_KERNEL;
}

/* Tiles are added to the output, unless the switch brings the sums there. */
static enum t3_status allocate_partials(struct t3_context* gpu, struct tiles* t) {
  const struct t3_grid* grid = &t->r.grid;
  t->partials = t->r.tensors.out.matrix.address;
  if (mechanism(t) == T3_DIRECT_UPDATE && gather(t) != T3_GATHER_BY_MULTICAST) return T3_OK;
  if (mechanism(t) == T3_STORED_TILES) t->slot_bytes = t3_slot_bytes(grid, t3_gpus(gpu));
  return t3_malloc(gpu, mechanism(t) == T3_STORED_TILES ? t3_gpus(gpu) * t->slot_bytes : grid->rows * grid->stride,
                   &t->partials);
}

static enum t3_status allocate_flags(struct t3_context* gpu, struct tiles* t) {
  const uint64_t bytes = t3_tile_flag_bytes(&t->r.grid, t3_gpus(gpu));
  if (!t3_sets_units_apart(&t->r) || !has_sum_kernel(t)) return T3_OK;
  T3_TRY(t3_malloc(gpu, bytes, &t->flags));
  return t3_write_zeros(gpu, t->flags, bytes);
}

/* The rows that this GPU's tiles lie in. */
static enum t3_status zero_own(struct t3_context* gpu, const struct tiles* t) {
  const struct t3_row_run rows = t3_rows_of_tiles(&t->r.grid, t->own);
  if (mechanism(t) != T3_DIRECT_UPDATE || rows.count == 0) return T3_OK;
  struct t3_matrix own = t->r.tensors.out.matrix;
  own.address = t->partials + rows.first * own.row_stride;
  own.rows = rows.count;
  t3_begin(gpu, "zeroing");
  T3_TRY(t3_fill_zero(gpu, &own));
  t3_end(gpu, "zeroing");
  return T3_OK;
}

static enum t3_status set_up(struct t3_context* gpu, struct tiles* t) {
  T3_TRY(t3_prepare_rival(gpu, &t->r, T3_UNCACHED));
  t->own = t3_owned_tiles(&t->r.grid, t3_gpu(gpu), t3_gpus(gpu));
  T3_TRY(allocate_partials(gpu, t));
  T3_TRY(allocate_flags(gpu, t));
  if (gather(t) == T3_GATHER_BY_KERNEL)
    T3_TRY(t3_prepare_collectives(gpu, &t->r.gemm, &t->r.tensors.out, T3_ALL_GATHER, NULL, &t->collectives));
  T3_TRY(zero_own(gpu, t));
  return t3_barrier(gpu);
}

static uint8_t place_of(const struct tiles* t) {
  return mechanism(t) == T3_LOAD_REDUCE    ? T3_GEMM_TO_OWNERS_ARGUMENTS_PLACE_HERE
         : mechanism(t) == T3_STORED_TILES ? T3_GEMM_TO_OWNERS_ARGUMENTS_PLACE_SLOT
                                           : T3_GEMM_TO_OWNERS_ARGUMENTS_PLACE_SUM;
}

static enum t3_status launch_gemm(struct t3_context* gpu, const struct tiles* t) {
  const struct t3_operands* o = &t->r.tensors;
  const struct t3_grid* grid = &t->r.grid;
  const uint32_t order = t->r.rival.order, next = (t3_gpu(gpu) + 1) % t3_gpus(gpu);
  const bool from_first = order == T3_NATURAL_ORDER || order == T3_ALIGNED_ORDER;
  const bool in_turns = order == T3_INTERLEAVED_ORDER || order == T3_ALIGNED_ORDER;
  const struct t3_gemm_to_owners_arguments arguments = {
      .out = t->partials,
      .a = o->a.address,
      .b = o->b.address,
      .flags = t->flags,
      .slot_bytes = t->slot_bytes,
      .m = grid->rows,
      .n = grid->columns,
      .k = t->r.gemm.k,
      .ldo = (uint32_t)grid->stride,
      .lda = (uint32_t)o->a.row_stride,
      .ldb = (uint32_t)o->b.row_stride,
      .first_tile = from_first ? 0 : t3_chunk_begin(grid, next, t3_gpus(gpu)),
      .gpu = (uint16_t)t3_gpu(gpu),
      .gpus = (uint16_t)t3_gpus(gpu),
      .tile_rows = (uint16_t)grid->tile_rows,
      .tile_columns = (uint16_t)grid->tile_columns,
      .chunks = (uint16_t)(in_turns ? t3_gpus(gpu) : 0),
      .group = (uint16_t)t->r.rival.group,
      .step_ns = (uint16_t)t->r.gemm.step_ns,
      .element = (uint8_t)grid->element,
      .wavefronts = (uint8_t)grid->wavefronts,
      .transpose_b = t->r.gemm.transpose_b,
      .place = place_of(t),
      .stages = (uint8_t)t->r.gemm.stages,
      .store_bytes = (uint8_t)t->r.gemm.store_bytes};
  unsigned char bytes[T3_GEMM_TO_OWNERS_ARGUMENTS_BYTES];
  t3_gemm_to_owners_arguments_to(&arguments, bytes);
  return t3_launch_kernel(gpu, t->r.compute_queue, "gemm_to_owners", bytes, sizeof bytes,
                          (struct t3_kernel_options){0});
}

static uint8_t source_of(const struct tiles* t) {
  return mechanism(t) == T3_LOAD_REDUCE    ? T3_SUM_PARTIALS_ARGUMENTS_SOURCE_SWITCH
         : mechanism(t) == T3_STORED_TILES ? T3_SUM_PARTIALS_ARGUMENTS_SOURCE_SLOTS
                                           : T3_SUM_PARTIALS_ARGUMENTS_SOURCE_SUMS;
}

static uint8_t target_of(const struct tiles* t) {
  return gather(t) == T3_GATHER_BY_MULTICAST ? T3_SUM_PARTIALS_ARGUMENTS_TARGET_MULTICAST
         : gather(t) == T3_GATHER_BY_STORES  ? T3_SUM_PARTIALS_ARGUMENTS_TARGET_EACH
                                             : T3_SUM_PARTIALS_ARGUMENTS_TARGET_HERE;
}

static enum t3_status launch_sum(struct t3_context* gpu, const struct tiles* t) {
  const struct t3_grid* grid = &t->r.grid;
  const bool by_slots = mechanism(t) == T3_STORED_TILES;
  const struct t3_sum_partials_arguments arguments = {.out = t->r.tensors.out.matrix.address,
                                                      .partials = t->partials,
                                                      .own = by_slots ? t->partials + t3_gpu(gpu) * t->slot_bytes : 0,
                                                      .flags = t->flags,
                                                      .slot_bytes = t->slot_bytes,
                                                      .m = grid->rows,
                                                      .n = grid->columns,
                                                      .ldo = (uint32_t)grid->stride,
                                                      .first_tile = t->own.first,
                                                      .tiles = t->own.count,
                                                      .gpu = (uint16_t)t3_gpu(gpu),
                                                      .gpus = (uint16_t)t3_gpus(gpu),
                                                      .tile_rows = (uint16_t)grid->tile_rows,
                                                      .tile_columns = (uint16_t)grid->tile_columns,
                                                      .element = (uint8_t)grid->element,
                                                      .source = source_of(t),
                                                      .target = target_of(t)};
  unsigned char bytes[T3_SUM_PARTIALS_ARGUMENTS_BYTES];
  t3_sum_partials_arguments_to(&arguments, bytes);
  if (!has_sum_kernel(t) || t->own.count == 0) return T3_OK;
  return t3_launch_kernel(gpu, t->r.communication_queue, "sum_partials", bytes, sizeof bytes,
                          (struct t3_kernel_options){0});
}

/* On compute units of its own the sum's kernel polls the flags of tiles. Otherwise it follows when all GPUs have sent
 * theirs. */
static enum t3_status gemm_and_sums(struct t3_context* gpu, const struct tiles* t) {
  const bool beside = t->flags != 0;
  t3_begin(gpu, "gemm");
  T3_TRY(launch_gemm(gpu, t));
  if (beside) T3_TRY(launch_sum(gpu, t));
  T3_TRY(t3_wait_queue(gpu, t->r.compute_queue));
  t3_end(gpu, "gemm");
  if (!beside) {
    T3_TRY(t3_barrier(gpu));
    T3_TRY(launch_sum(gpu, t));
  }
  T3_TRY(t3_wait_queue(gpu, t->r.communication_queue));
  return gather(t) == T3_GATHER_BY_KERNEL ? T3_OK : t3_barrier(gpu);
}

static enum t3_status run_phases(struct t3_context* gpu, struct tiles* t) {
  t3_begin(gpu, "fused");
  T3_TRY(gemm_and_sums(gpu, t));
  t3_end(gpu, "fused");
  return gather(t) == T3_GATHER_BY_KERNEL ? t3_gather_all(gpu, &t->collectives) : T3_OK;
}

enum t3_status t3_run_tiles(const struct t3_hal* hal, const struct t3_run* run) {
  struct t3_context context = {0};
  struct tiles t = {.partials = 0};
  T3_TRY(t3_rival_run_of(run, &t.r));
  T3_TRY(t3_set_up(&context, hal, run));
  t3_begin(&context, "setup");
  T3_TRY(set_up(&context, &t));
  t3_end(&context, "setup");

  t3_begin(&context, "total");
  T3_TRY(run_phases(&context, &t));
  t3_end(&context, "total");
  return t3_close(&context);
}
