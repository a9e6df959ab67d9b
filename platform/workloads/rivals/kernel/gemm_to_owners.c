/* A GEMM whose workgroups send each tile to its owner as soon as it is computed, and set a flag there. Public
 * descriptions: FLUX (Chang et al., arXiv:2406.06858, section 3), TileLink (Zheng et al., MLSys 2025), ThunderKittens'
 * multi-GPU kernels (Sul et al., arXiv:2511.13940). */
#include "t3/arguments/gemm_to_owners.h"
#include "kernels/gemm/product.h"
#include "kernels/gemm/tile_order.h"
#include "kernels/operands.h"
#include "t3/address.h"
#include "workloads/rivals/rival_layout.h"

static bool is_at(const struct t3_gemm_to_owners_arguments* p, uint8_t place) { return p->place == place; }

static struct t3_grid grid_of(const struct t3_gemm_to_owners_arguments* p) {
  return (struct t3_grid){
      p->m, p->n, p->tile_rows, p->tile_columns, p->wavefronts, p->ldo, (enum t3_element)p->element};
}

/* A tile, its owner, and the address of the output's element (0, 0) as the tile's place has it. */
struct destination {
  uint32_t tile, owner, first_tile;
  uint64_t origin;
};

static struct destination destination_of(const struct t3_gemm_to_owners_arguments* p, const struct t3_grid* grid,
                                         uint32_t tile) {
  const uint32_t owner = t3_tile_owner(grid, tile, p->gpus);
  const struct t3_tile_run owned = t3_owned_tiles(grid, owner, p->gpus);
  struct destination d = {tile, owner, owned.first, p->out};
  if (!is_at(p, T3_GEMM_TO_OWNERS_ARGUMENTS_PLACE_HERE)) d.origin = t3_on_gpu(owner, p->out);
  if (is_at(p, T3_GEMM_TO_OWNERS_ARGUMENTS_PLACE_SLOT))
    d.origin += p->gpu * p->slot_bytes - t3_rows_of_tiles(grid, owned).first * grid->stride;
  return d;
}

static void send_wavefront(struct t3_wave* wave, const struct t3_grid* grid, const struct destination* d,
                           uint32_t wavefront) {
  const struct t3_gemm_to_owners_arguments* p = wave->arguments;
  const struct t3_rectangle place = t3_tile_of(grid, d->tile), part = t3_wavefront_of(grid, place, wavefront);
  if (part.rows == 0) return;
  const struct t3_access access = {.address = d->origin + t3_offset_of(grid, part.row, part.column),
                                   .stride = grid->stride,
                                   .rows = part.rows,
                                   .columns = part.columns,
                                   .element = grid->element,
                                   .row = part.row - place.row,
                                   .uncached = true};
  if (is_at(p, T3_GEMM_TO_OWNERS_ARGUMENTS_PLACE_SUM))
    t3_update(wave, t3_product_sums(place), access);
  else
    t3_store(wave, t3_product_sums(place), access);
}

/* The flag follows the tile: the fence is over when memory or the link has the tile. */
static void set_flag(struct t3_wave* wave, const struct destination* d) {
  const struct t3_gemm_to_owners_arguments* p = wave->arguments;
  const uint8_t ready = 1;
  const uint64_t flags = p->flags + (d->tile - d->first_tile) * t3_peer_flag_bytes(p->gpus);
  t3_write(wave, t3_on_gpu(d->owner, flags + p->gpu), &ready, sizeof ready);
  t3_fence(wave);
}

static void run(struct t3_wave* wave) {
  const struct t3_gemm_to_owners_arguments* p = wave->arguments;
  const struct t3_grid grid = grid_of(p);
  const struct t3_tile_order order = {.first = p->first_tile, .chunks = p->chunks, .group = p->group};
  const struct destination d = destination_of(p, &grid, t3_tile_in_order(&order, &grid, wave->workgroup));
  const struct t3_factors factors = {.a = p->a,
                                     .b = p->b,
                                     .lda = p->lda,
                                     .ldb = p->ldb,
                                     .k = p->k,
                                     .tile_rows = p->tile_rows,
                                     .tile_columns = p->tile_columns,
                                     .element = grid.element,
                                     .transpose_b = p->transpose_b,
                                     .stages = p->stages,
                                     .step_ns = p->step_ns};
  t3_multiply_tile(wave, &factors, t3_tile_of(&grid, d.tile));
  t3_trace_span(wave, "store", d.tile);
  for (uint32_t wavefront = 0; wavefront < grid.wavefronts; ++wavefront) send_wavefront(wave, &grid, &d, wavefront);
  t3_fence(wave);
  if (p->flags != 0) set_flag(wave, &d);
}

enum { OUT, A, B, OPERANDS };

/* `out` is what this GPU's memory holds of it. */
static void operands_of(const struct t3_gemm_to_owners_arguments* p, struct t3_matrices* all) {
  const uint64_t row = t3_row_bytes_of(p->n, p->element);
  const uint32_t b_rows = p->transpose_b ? p->n : p->k, b_columns = p->transpose_b ? p->k : p->n;
  all[OUT] = is_at(p, T3_GEMM_TO_OWNERS_ARGUMENTS_PLACE_SLOT)
                 ? t3_piece("out", p->out, p->gpus * p->slot_bytes)
                 : (struct t3_matrices){"out", p->out, p->m, row, p->ldo, 0, 1};
  all[A] = (struct t3_matrices){"a", p->a, p->m, t3_row_bytes_of(p->k, p->element), p->lda, 0, 1};
  all[B] = (struct t3_matrices){"b", p->b, b_rows, t3_row_bytes_of(b_columns, p->element), p->ldb, 0, 1};
}

static struct t3_matrices flags_of(const struct t3_gemm_to_owners_arguments* p) {
  const struct t3_grid grid = grid_of(p);
  return t3_piece("flags", p->flags, t3_tile_flag_bytes(&grid, p->gpus));
}

static bool check_operands(struct t3_check* check, const struct t3_gemm_to_owners_arguments* p) {
  struct t3_matrices all[OPERANDS];
  operands_of(p, all);
  for (const struct t3_matrices* m = all; m < all + OPERANDS; ++m) {
    if (!t3_check_matrix(check, m)) return false;
    if (m != all && !t3_check_overlap(check, all, m)) return false;
  }
  const struct t3_matrices flags = flags_of(p);
  return p->flags == 0 || (t3_check_piece(check, &flags) && t3_check_overlap(check, all, &flags));
}

static bool check_order(struct t3_check* check, const struct t3_gemm_to_owners_arguments* p, uint64_t tiles) {
  if (p->first_tile >= tiles || (p->chunks > 1 && p->group > 1))
    return t3_refuse(check, T3_BAD_PACKET,
                     "first_tile %u, %u chunks, groups of %u rows: one of %" PRIu64
                     " tiles, no group with chunks, "
                     "expected",
                     p->first_tile, p->chunks, p->group, tiles);
  return true;
}

static bool check_numbers(struct t3_check* check, const struct t3_gemm_to_owners_arguments* p) {
  const struct t3_output_operand out = {p->out, p->m, p->n, p->ldo, p->element};
  const struct t3_named_value switches[] = {{"transpose_b", p->transpose_b}};
  if (p->element > T3_FP32 || p->place > T3_GEMM_TO_OWNERS_ARGUMENTS_PLACE_SUM)
    return t3_refuse(check, T3_BAD_PACKET, "element %u, place %u: at most %d of both expected", p->element, p->place,
                     2);
  if (p->m - 1 >= T3_ROWS_MAX || p->n - 1 >= T3_ROWS_MAX || p->k - 1 >= T3_ROWS_MAX)
    return t3_refuse(check, T3_BAD_PACKET, "m %u, n %u, k %u: 1 to %d expected", p->m, p->n, p->k, T3_ROWS_MAX);
  if (p->wavefronts == 0 || p->wavefronts > 8 || p->tile_rows % p->wavefronts != 0)
    return t3_refuse(check, T3_BAD_PACKET, "%u wavefronts: 1 to 8 expected that divide the tile's %u rows",
                     p->wavefronts, p->tile_rows);
  if (!t3_check_place(check, p->gpu, p->gpus) || !t3_check_switches(check, switches, 1) ||
      !t3_check_tiles(check, &out, p->tile_rows, p->tile_columns))
    return false;
  const struct t3_grid grid = grid_of(p);
  const uint64_t slot = is_at(p, T3_GEMM_TO_OWNERS_ARGUMENTS_PLACE_SLOT) ? t3_slot_bytes(&grid, p->gpus) : 0;
  if (p->slot_bytes != slot)
    return t3_refuse(check, T3_BAD_PACKET, "slot_bytes %" PRIu64 ": %" PRIu64 " expected", p->slot_bytes, slot);
  return t3_check_pipeline(check, p->stages, p->store_bytes) && check_order(check, p, t3_tiles_of(&grid)) &&
         t3_check_workgroups(check, t3_tiles_of(&grid));
}

static bool check(struct t3_check* check, const struct t3_launch* launch) {
  const struct t3_gemm_to_owners_arguments* p = launch->arguments;
  return check_numbers(check, p) && check_operands(check, p) && t3_check_reach(check, p->gpu, p->gpus, "out", p->out);
}

/* What this GPU's own tiles are written to: the output, its slot, or the rows that it sums. */
static struct t3_range written_by(const struct t3_gemm_to_owners_arguments* p, const struct t3_grid* grid) {
  const struct t3_row_run rows = t3_rows_of_tiles(grid, t3_owned_tiles(grid, p->gpu, p->gpus));
  if (is_at(p, T3_GEMM_TO_OWNERS_ARGUMENTS_PLACE_HERE)) return (struct t3_range){p->out, p->out + p->m * grid->stride};
  const uint64_t begin = is_at(p, T3_GEMM_TO_OWNERS_ARGUMENTS_PLACE_SLOT) ? p->out + p->gpu * p->slot_bytes
                                                                          : p->out + rows.first * grid->stride;
  return (struct t3_range){begin, begin + rows.count * grid->stride};
}

static struct t3_plan plan(const struct t3_device* device, const struct t3_launch* launch) {
  const struct t3_gemm_to_owners_arguments* p = launch->arguments;
  const struct t3_grid grid = grid_of(p);
  const bool stays = is_at(p, T3_GEMM_TO_OWNERS_ARGUMENTS_PLACE_HERE);
  const struct t3_range written = written_by(p, &grid);
  struct t3_matrices all[OPERANDS];
  operands_of(p, all);
  struct t3_plan plan = {.name = "gemm to owners",
                         .workgroups = t3_tiles_of(&grid),
                         .written = {written},
                         .written_count = written.begin != written.end,
                         .read = {t3_range_of(&all[A]), t3_range_of(&all[B])},
                         .read_count = 2,
                         .sent = {t3_local_range(all[OUT])},
                         .sent_count = !stays,
                         .shared = {t3_local_range(flags_of(p))},
                         .shared_count = p->flags != 0,
                         .awaits_arrivals = true,
                         .stores_here = written.begin != written.end,
                         .store_bytes = p->store_bytes};
  t3_plan_tiles(&plan, device, p->tile_rows, p->tile_columns);
  return plan;
}

const struct t3_kernel t3_gemm_to_owners_kernel = {.name = "gemm_to_owners",
                                                   .arguments = T3_GEMM_TO_OWNERS_ARGUMENTS,
                                                   .reads = "gemm_read",
                                                   .writes = "gemm_write",
                                                   .is_producer = true,
                                                   .check = check,
                                                   .plan = plan,
                                                   .run = run};
