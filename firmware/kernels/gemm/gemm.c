/* out = a b. A workgroup computes one tile of out (product.h), and stores it wavefront by wavefront. Stages (T3 2.5)
 * emerge from how many workgroups fit. */
#include "t3/arguments/gemm.h"
#include "kernels/operands.h"
#include "product.h"
#include "tile_order.h"

/* The operands and results of a workgroup. */
struct gemm {
  const struct t3_gemm_arguments* arguments;
  struct t3_grid grid;
  struct t3_rectangle place; /* of its tile in out */
  uint32_t tile;             /* its number in the whole batch */
  uint64_t out;              /* address of its matrix of the batch */
  struct t3_factors factors; /* and of those that it multiplies */
};

static uint32_t slices_of(const struct t3_gemm_arguments* p) { return p->split_k == 0 ? 1 : p->split_k; }

/* Tiles of a batch are numbered through, by their order alone. Slices are ordered as the workgroups of a kernel that
 * is not persistent. */
static uint32_t tile_of_slice(const struct t3_gemm_arguments* p, const struct t3_grid* grid, uint32_t slice) {
  const uint32_t turn = slice / slices_of(p);
  const uint64_t tiles = t3_tiles_of(grid) * t3_batches_of(p->batches);
  const struct t3_tile_order order = {
      .first = p->first_workgroup, .chunks = p->chunks, .group = p->group, .of_columns = p->group_columns};
  if (p->chunks > 1 || p->group > 1) return t3_tile_in_order(&order, grid, turn);
  return (uint32_t)((p->first_workgroup + (uint64_t)turn) % tiles);
}

/* The slice's share of k, in whole K tiles. */
static void take_slice(const struct t3_gemm_arguments* p, uint32_t depth, uint32_t number, struct t3_factors* factors) {
  const uint32_t slices = slices_of(p), slice = number % slices;
  const uint64_t k_tiles = t3_divide_up(p->k, depth), element = t3_element_bytes((enum t3_element)p->element);
  const uint64_t begin = k_tiles * slice / slices * depth, end = k_tiles * (slice + 1) / slices * depth;
  factors->k = (uint32_t)((end < p->k ? end : p->k) - begin);
  factors->a += begin * (p->transpose_a ? p->lda : element);
  factors->b += begin * (p->transpose_b ? element : p->ldb);
}

static struct gemm gemm_of(const struct t3_wave* wave, uint32_t slice) {
  const struct t3_gemm_arguments* p = wave->arguments;
  struct gemm g = {
      .arguments = p,
      .grid = {p->m, p->n, p->tile_rows, p->tile_columns, p->wavefronts, p->ldo, (enum t3_element)p->element}};
  const uint32_t tiles = t3_tiles_of(&g.grid);
  g.tile = tile_of_slice(p, &g.grid, slice);
  g.place = t3_tile_of(&g.grid, g.tile % tiles);
  const uint64_t matrix = g.tile / tiles;
  g.out = p->out + matrix * p->out_batch;
  g.factors = (struct t3_factors){.a = p->a + matrix * p->a_batch,
                                  .b = p->b + matrix * p->b_batch,
                                  .lda = p->lda,
                                  .ldb = p->ldb,
                                  .k = p->k,
                                  .tile_rows = p->tile_rows,
                                  .tile_columns = p->tile_columns,
                                  .element = g.grid.element,
                                  .transpose_a = p->transpose_a,
                                  .transpose_b = p->transpose_b,
                                  .stages = p->stages,
                                  .step_ns = p->step_ns};
  take_slice(p, wave->device->slab_depth, slice, &g.factors);
  return g;
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
                                   .uncached = g->arguments->uncached,
                                   .of = {true, (uint8_t)wavefront, g->tile}};
  if (g->arguments->update)
    t3_update(wave, t3_product_sums(g->place), access);
  else
    t3_store(wave, t3_product_sums(g->place), access);
}

static void store(struct t3_wave* wave, const struct gemm* g) {
  t3_trace_span(wave, "store", g->tile);
  for (uint32_t wavefront = 0; wavefront < g->grid.wavefronts; ++wavefront) store_wavefront(wave, g, wavefront);
}

static uint64_t slices_in(const struct t3_gemm_arguments* p) {
  const struct t3_grid grid = {
      p->m, p->n, p->tile_rows, p->tile_columns, p->wavefronts, p->ldo, (enum t3_element)p->element};
  return t3_tiles_of(&grid) * t3_batches_of(p->batches) * slices_of(p);
}

static uint64_t workgroups_of(const struct t3_gemm_arguments* p) {
  const uint64_t slices = slices_in(p), most = p->persistent_workgroups;
  return most == 0 || most > slices ? slices : most;
}

static void run(struct t3_wave* wave) {
  const uint64_t slices = slices_in(wave->arguments);
  struct gemm tiles[2] = {gemm_of(wave, wave->workgroup)};
  struct t3_tile_product products[2] = {t3_first_product(wave, &tiles[0].factors, tiles[0].place)};
  t3_load_first(wave, &products[0]);
  uint32_t now = 0;
  for (uint64_t slice = wave->workgroup; slice < slices; slice += wave->workgroups, now ^= 1) {
    const uint32_t later = now ^ 1;
    const bool goes_on = slice + wave->workgroups < slices;
    if (goes_on) {
      tiles[later] = gemm_of(wave, (uint32_t)(slice + wave->workgroups));
      products[later] = t3_next_product(&products[now], &tiles[later].factors, tiles[later].place);
    }
    t3_multiply_loaded(wave, &products[now], goes_on ? &products[later] : NULL);
    store(wave, &tiles[now]);
  }
  t3_fence(wave);
}

struct operands {
  struct t3_matrices out, a, b;
};

static struct operands operands_of(const struct t3_gemm_arguments* p) {
  const bool a_lies = p->transpose_a, b_lies = p->transpose_b;
  const uint64_t count = t3_batches_of(p->batches), row = t3_row_bytes_of(p->n, p->element);
  const uint32_t a_rows = a_lies ? p->k : p->m, b_rows = b_lies ? p->n : p->k;
  const uint64_t a_row = t3_row_bytes_of(a_lies ? p->m : p->k, p->element);
  const uint64_t b_row = t3_row_bytes_of(b_lies ? p->k : p->n, p->element);
  return (struct operands){{"out", p->out, p->m, row, p->ldo, p->out_batch, count},
                           {"a", p->a, a_rows, a_row, p->lda, p->a_batch, count},
                           {"b", p->b, b_rows, b_row, p->ldb, p->b_batch, count}};
}

static bool check_slices(struct t3_check* check, const struct t3_gemm_arguments* p) {
  const uint32_t k_tiles = t3_divide_up(p->k, check->device->slab_depth);
  if (p->split_k <= 1) return true;
  if (p->persistent_workgroups != 0)
    return t3_refuse(check, T3_BAD_PACKET, "split_k %u with persistent_workgroups %u: 0 workgroups expected",
                     p->split_k, p->persistent_workgroups);
  if (p->split_k > k_tiles || !p->update || p->batches > 1)
    return t3_refuse(check, T3_BAD_PACKET,
                     "split_k %u with update %u, a batch of %u: at most the %u K tiles of k, updates and one matrix "
                     "expected",
                     p->split_k, p->update, p->batches, k_tiles);
  return true;
}

static bool check_out(struct t3_check* check, const struct t3_gemm_arguments* p) {
  const struct t3_output_operand out = {p->out, p->m, p->n, p->ldo, p->element};
  const struct t3_batch_operand batch = {p->batches, p->out_batch, p->a_batch, p->b_batch};
  if (!t3_check_tiles(check, &out, p->tile_rows, p->tile_columns) || !t3_check_output(check, &out) ||
      !t3_check_batch(check, &out, &batch))
    return false;
  /* Tracker and output map know an output as one grid of tiles. */
  if (p->batches > 1 && (p->update || p->uncached))
    return t3_refuse(check, T3_BAD_PACKET, "a batch of %u with update %u, uncached %u: cached stores expected",
                     p->batches, p->update, p->uncached);
  if (p->batches > 1 && p->chunks > 1)
    return t3_refuse(check, T3_BAD_PACKET, "a batch of %u with %u chunks in turn: the order of numbers expected",
                     p->batches, p->chunks);
  if (p->group > 1 && (p->batches > 1 || p->chunks > 1))
    return t3_refuse(check, T3_BAD_PACKET, "a batch of %u, %u chunks, groups of %u rows: a group alone expected",
                     p->batches, p->chunks, p->group);
  if (p->wavefronts == 0 || p->wavefronts > 8 || p->tile_rows % p->wavefronts != 0)
    return t3_refuse(check, T3_BAD_PACKET, "%u wavefronts: 1 to 8 expected that divide the tile's %u rows",
                     p->wavefronts, p->tile_rows);
  return true;
}

static bool check_factors(struct t3_check* check, const struct t3_gemm_arguments* p, const struct operands* operands) {
  const struct t3_matrices *a = &operands->a, *b = &operands->b;
  if (p->k - 1 >= T3_ROWS_MAX || p->lda < a->row_bytes || p->ldb < b->row_bytes)
    return t3_refuse(check, T3_BAD_PACKET,
                     "k %u, row strides of a %u and b %u: k of 1 to %d, strides of at least a row, expected", p->k,
                     p->lda, p->ldb, T3_ROWS_MAX);
  if (t3_unaligned(p->a) || t3_unaligned(p->b) || t3_unaligned(p->lda) || t3_unaligned(p->ldb))
    return t3_refuse(check, T3_BAD_PACKET,
                     "a " T3_HEX ", b " T3_HEX ", row strides %u and %u: multiples of 32 expected", p->a, p->b, p->lda,
                     p->ldb);
  return t3_check_held(check, check->gpu, "a", p->a, t3_bytes_of(a)) &&
         t3_check_held(check, check->gpu, "b", p->b, t3_bytes_of(b));
}

static bool check(struct t3_check* check, const struct t3_launch* launch) {
  const struct t3_gemm_arguments* p = launch->arguments;
  const struct t3_named_value switches[] = {{"update", p->update},
                                            {"uncached", p->uncached},
                                            {"transpose_a", p->transpose_a},
                                            {"transpose_b", p->transpose_b},
                                            {"group_columns", p->group_columns}};
  if (!t3_check_switches(check, switches, sizeof switches / sizeof *switches) || !check_out(check, p)) return false;
  if (!t3_check_pipeline(check, p->stages, p->store_bytes)) return false;
  const struct operands operands = operands_of(p);
  if (!check_factors(check, p, &operands) || !check_slices(check, p) || !t3_check_workgroups(check, slices_in(p)))
    return false;
  const uint64_t tiles = slices_in(p) / slices_of(p);
  if (p->first_workgroup >= tiles)
    return t3_refuse(check, T3_BAD_PACKET, "first_workgroup %u: one of %" PRIu64 " expected", p->first_workgroup,
                     tiles);
  return t3_check_overlap(check, &operands.out, &operands.a) && t3_check_overlap(check, &operands.out, &operands.b) &&
         t3_check_batch_overlap(check, &operands.out);
}

static struct t3_plan plan(const struct t3_device* device, const struct t3_launch* launch) {
  const struct t3_gemm_arguments* p = launch->arguments;
  const struct operands operands = operands_of(p);
  struct t3_plan plan = {.name = "gemm",
                         .workgroups = (uint32_t)workgroups_of(p),
                         .written = {t3_range_of(&operands.out)},
                         .written_count = 1,
                         .read = {t3_range_of(&operands.a), t3_range_of(&operands.b)},
                         .read_count = 2,
                         .awaits_arrivals = p->update,
                         .stores_here = true,
                         .store_bytes = p->store_bytes,
                         .tiles_named = p->update || p->uncached ? T3_TILES_NAMED : T3_TILES_FORGOTTEN};
  t3_plan_tiles(&plan, device, p->tile_rows, p->tile_columns);
  return plan;
}

const struct t3_kernel t3_gemm_kernel = {.name = "gemm",
                                         .arguments = T3_GEMM_ARGUMENTS,
                                         .reads = "gemm_read",
                                         .writes = "gemm_write",
                                         .is_producer = true,
                                         .check = check,
                                         .plan = plan,
                                         .run = run};
