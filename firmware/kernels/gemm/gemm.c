/* out = a b. A workgroup computes one tile of out: it loads slabs of a's rows and b's columns ahead of their use, adds
 * their products up, and stores the tile wavefront by wavefront. Stages (T3 2.5) emerge from how many workgroups fit.
 */
#include "gemm.h"

#include "kernels/operands.h"
#include "t3/grid.h"

/* What the workgroup works on. */
struct gemm {
  const struct t3_kernel_packet* arguments;
  struct t3_grid grid;
  struct t3_rectangle place; /* of its tile in out */
  uint32_t tile;             /* its number in the whole batch */
  uint64_t a, b, out;        /* addresses of its matrices of the batch */
  uint32_t depth, slabs, ahead;
};

static struct gemm gemm_of(const struct t3_wave* wave) {
  const struct t3_kernel_packet* p = wave->arguments;
  struct gemm g = {
      .arguments = p,
      .grid = {p->m, p->n, p->tile_rows, p->tile_columns, p->wavefronts, p->ldo, (enum t3_element)p->element},
      .depth = wave->device->slab_depth};
  const uint32_t tiles = t3_tiles_of(&g.grid);
  g.tile = (uint32_t)(((uint64_t)p->first_workgroup + wave->workgroup) % p->workgroups);
  g.place = t3_tile_of(&g.grid, g.tile % tiles);
  const uint64_t matrix = g.tile / tiles;
  g.a = p->a + matrix * p->a_batch;
  g.b = p->b + matrix * p->b_batch;
  g.out = p->out + matrix * p->out_batch;
  g.slabs = t3_divide_up(p->k, g.depth);
  g.ahead = t3_smaller(g.slabs, wave->device->prefetch_slabs);
  return g;
}

static uint32_t depth_of(const struct gemm* g, uint32_t slab) {
  return t3_smaller(g->depth, g->arguments->k - slab * g->depth);
}

static struct t3_tile sum_of(const struct gemm* g) {
  return (struct t3_tile){0, g->place.rows, g->place.columns, T3_FP32};
}

/* `ahead` slabs have tiles; the one after them takes the tiles of the first. */
static struct t3_tile slab_of_a(const struct gemm* g, uint32_t slab) {
  const uint32_t index = 1 + 2 * (slab % g->ahead), depth = depth_of(g, slab);
  if (g->arguments->flags & T3_KERNEL_TRANSPOSE_A) return (struct t3_tile){index, depth, g->place.rows, T3_FP32};
  return (struct t3_tile){index, g->place.rows, depth, T3_FP32};
}

static struct t3_tile slab_of_b(const struct gemm* g, uint32_t slab) {
  const uint32_t index = 2 + 2 * (slab % g->ahead), depth = depth_of(g, slab);
  if (g->arguments->flags & T3_KERNEL_TRANSPOSE_B) return (struct t3_tile){index, g->place.columns, depth, T3_FP32};
  return (struct t3_tile){index, depth, g->place.columns, T3_FP32};
}

/* Loads what fills the tile, from (row, column) of a matrix on. */
static void load(struct t3_wave* wave, const struct gemm* g, struct t3_tile tile, uint64_t matrix, uint32_t stride,
                 uint32_t row, uint32_t column) {
  const enum t3_element element = g->grid.element;
  t3_load(wave, tile,
          (struct t3_access){.address = matrix + (uint64_t)row * stride + (uint64_t)column * t3_element_bytes(element),
                             .stride = stride,
                             .rows = tile.rows,
                             .columns = tile.columns,
                             .element = element});
}

static void load_slab(struct t3_wave* wave, const struct gemm* g, uint32_t slab) {
  const struct t3_kernel_packet* p = g->arguments;
  const uint32_t k = slab * g->depth;
  const bool a_lies = p->flags & T3_KERNEL_TRANSPOSE_A, b_lies = p->flags & T3_KERNEL_TRANSPOSE_B;
  load(wave, g, slab_of_a(g, slab), g->a, p->lda, a_lies ? k : g->place.row, a_lies ? g->place.row : k);
  load(wave, g, slab_of_b(g, slab), g->b, p->ldb, b_lies ? g->place.column : k, b_lies ? k : g->place.column);
}

static void multiply_slab(struct t3_wave* wave, const struct gemm* g, uint32_t slab) {
  const struct t3_kernel_packet* p = g->arguments;
  t3_multiply(wave, (struct t3_product){.sum = sum_of(g),
                                        .a = slab_of_a(g, slab),
                                        .b = slab_of_b(g, slab),
                                        .m = p->tile_rows,
                                        .n = p->tile_columns,
                                        .k = depth_of(g, slab),
                                        .transpose_a = p->flags & T3_KERNEL_TRANSPOSE_A,
                                        .transpose_b = p->flags & T3_KERNEL_TRANSPOSE_B,
                                        .adds = slab != 0});
}

static void store_wavefront(struct t3_wave* wave, const struct gemm* g, uint32_t wavefront) {
  const struct t3_rectangle part = t3_wavefront_of(&g->grid, g->place, wavefront);
  if (part.rows == 0) return;
  const struct t3_access access = {.address = g->out + t3_offset_of(&g->grid, part.row, part.column),
                                   .stride = g->grid.stride,
                                   .rows = part.rows,
                                   .columns = part.columns,
                                   .element = g->grid.element,
                                   .row = part.row - g->place.row,
                                   .uncached = g->arguments->flags & T3_KERNEL_UNCACHED,
                                   .of = {true, (uint8_t)wavefront, g->tile}};
  if (g->arguments->flags & T3_KERNEL_UPDATE)
    t3_update(wave, sum_of(g), access);
  else
    t3_store(wave, sum_of(g), access);
}

static void run(struct t3_wave* wave) {
  const struct gemm g = gemm_of(wave);
  for (uint32_t slab = 0; slab < g.ahead; ++slab) load_slab(wave, &g, slab);
  for (uint32_t slab = 0; slab < g.slabs; ++slab) {
    multiply_slab(wave, &g, slab);
    if (slab + g.ahead < g.slabs) load_slab(wave, &g, slab + g.ahead);
  }
  t3_show(wave, "store", g.tile);
  for (uint32_t wavefront = 0; wavefront < g.grid.wavefronts; ++wavefront) store_wavefront(wave, &g, wavefront);
  t3_drain(wave);
}

struct operands {
  struct t3_matrices out, a, b;
};

static struct operands operands_of(const struct t3_kernel_packet* p) {
  const bool a_lies = p->flags & T3_KERNEL_TRANSPOSE_A, b_lies = p->flags & T3_KERNEL_TRANSPOSE_B;
  const uint64_t bytes = t3_element_bytes((enum t3_element)p->element), count = t3_batches_of(p);
  const uint32_t a_rows = a_lies ? p->k : p->m, b_rows = b_lies ? p->n : p->k;
  return (struct operands){{"out", p->out, p->m, t3_row_of_out(p), p->ldo, p->out_batch, count},
                           {"a", p->a, a_rows, (a_lies ? p->m : p->k) * bytes, p->lda, p->a_batch, count},
                           {"b", p->b, b_rows, (b_lies ? p->k : p->n) * bytes, p->ldb, p->b_batch, count}};
}

static bool check(struct t3_check* check, const void* arguments) {
  const struct t3_kernel_packet* p = arguments;
  if (!t3_check_output(check, p, T3_KERNEL_UPDATE | T3_KERNEL_UNCACHED | T3_KERNEL_TRANSPOSE_A | T3_KERNEL_TRANSPOSE_B,
                       true))
    return false;
  const struct t3_unused_field unused[] = {{"c or peer_staging", p->c},
                                           {"signal_epoch or factor", p->signal_epoch},
                                           {"ldc or signal_base", p->ldc},
                                           {"operation", p->operation}};
  if (!t3_check_unused(check, unused, sizeof unused / sizeof *unused)) return false;
  const struct operands operands = operands_of(p);
  const struct t3_matrices *out = &operands.out, *a = &operands.a, *b = &operands.b;
  if (p->k - 1 >= T3_ROWS_MAX || p->lda < a->row_bytes || p->ldb < b->row_bytes)
    return t3_refuse(check, T3_BAD_PACKET,
                     "k %u, row strides of a %u and b %u: k of 1 to %d, strides of at least a row, expected", p->k,
                     p->lda, p->ldb, T3_ROWS_MAX);
  if (t3_unaligned(p->a) || t3_unaligned(p->b) || t3_unaligned(p->lda) || t3_unaligned(p->ldb))
    return t3_refuse(check, T3_BAD_PACKET,
                     "a " T3_HEX ", b " T3_HEX ", row strides %u and %u: multiples of 32 expected", p->a, p->b, p->lda,
                     p->ldb);
  if (!t3_check_batch(check, p)) return false;
  if (!t3_check_held(check, check->gpu, "a", p->a, t3_bytes_of(a)) ||
      !t3_check_held(check, check->gpu, "b", p->b, t3_bytes_of(b)))
    return false;
  if (p->wavefronts == 0 || p->wavefronts > 8 || p->tile_rows % p->wavefronts != 0)
    return t3_refuse(check, T3_BAD_PACKET, "%u wavefronts: 1 to 8 expected that divide the tile's %u rows",
                     p->wavefronts, p->tile_rows);
  const struct t3_grid grid = {
      p->m, p->n, p->tile_rows, p->tile_columns, p->wavefronts, p->ldo, (enum t3_element)p->element};
  const uint64_t workgroups = t3_tiles_of(&grid) * t3_batches_of(p);
  if (p->workgroups != workgroups || p->first_workgroup >= p->workgroups)
    return t3_refuse(check, T3_BAD_PACKET,
                     "workgroups %u from %u: all %" PRIu64 " of the output, from one of them, expected", p->workgroups,
                     p->first_workgroup, workgroups);
  return t3_check_overlap(check, out, a) && t3_check_overlap(check, out, b) && t3_check_batch_overlap(check, out);
}

/* As many more workgroups fit as the tile is smaller than the one that the machine is made for: registers are what
 * fills up. */
static struct t3_plan plan(const struct t3_device* device, const void* arguments) {
  const struct t3_kernel_packet* p = arguments;
  const struct operands operands = operands_of(p);
  const uint32_t times = device->tile_rows * device->tile_columns / ((uint32_t)p->tile_rows * p->tile_columns);
  return (struct t3_plan){
      .name = "gemm",
      .workgroups = p->workgroups,
      .workgroups_per_cu = device->workgroups_per_cu * (times == 0 ? 1 : times),
      .waves = 1,
      .tiles = 1 + 2 * device->prefetch_slabs,
      .written = {t3_range_of(&operands.out)},
      .written_count = 1,
      .read = {t3_range_of(&operands.a), t3_range_of(&operands.b)},
      .read_count = 2,
      .stores_here = true,
      .tiles_named = p->flags & (T3_KERNEL_UPDATE | T3_KERNEL_UNCACHED) ? T3_TILES_NAMED : T3_TILES_FORGOTTEN};
}

const struct t3_kernel t3_gemm_kernel = {.name = "gemm",
                                         .reads = T3_TRAFFIC_GEMM_READ,
                                         .writes = T3_TRAFFIC_GEMM_WRITE,
                                         .is_producer = true,
                                         .check = check,
                                         .plan = plan,
                                         .run = run};
