/* Copies a GPU's own rows to their place in a matrix that is gathered. A workgroup copies a tile, a row for each
 * wavefront. */
#include "t3/arguments/place_rows.h"
#include "kernels/operands.h"
#include "t3/grid.h"

static struct t3_grid grid_of(const struct t3_place_rows_arguments* p) {
  return (struct t3_grid){
      p->rows, p->columns, p->wavefronts, p->tile_columns, p->wavefronts, p->ld_from, (enum t3_element)p->element};
}

static void run(struct t3_wave* wave) {
  const struct t3_place_rows_arguments* p = wave->arguments;
  const struct t3_grid grid = grid_of(p);
  const struct t3_rectangle place = t3_tile_of(&grid, wave->workgroup);
  const struct t3_tile tile = {0, place.rows, place.columns, T3_FP32};
  const uint64_t in_row = t3_offset_of(&grid, 0, place.column);
  const uint32_t before = p->first_row / p->wavefronts * t3_tiles_across(&grid);
  struct t3_access access = {.address = p->from + place.row * grid.stride + in_row,
                             .stride = grid.stride,
                             .rows = place.rows,
                             .columns = place.columns,
                             .element = grid.element};
  t3_load(wave, tile, access);
  access.stride = p->ld_to;
  access.rows = 1;
  access.uncached = p->uncached;
  for (uint32_t row = 0; row < place.rows; ++row) {
    access.address = p->to + ((uint64_t)p->first_row + place.row + row) * p->ld_to + in_row;
    access.row = row;
    access.of = (struct t3_wavefront_tile){true, (uint8_t)row, before + wave->workgroup};
    t3_store(wave, tile, access);
  }
  t3_fence(wave);
}

static struct t3_matrices written_of(const struct t3_place_rows_arguments* p) {
  const uint64_t begin = p->to + (uint64_t)p->first_row * p->ld_to;
  return (struct t3_matrices){"to", begin, p->rows, t3_row_bytes_of(p->columns, p->element), p->ld_to, 0, 1};
}

static struct t3_matrices read_of(const struct t3_place_rows_arguments* p) {
  return (struct t3_matrices){"from", p->from, p->rows, t3_row_bytes_of(p->columns, p->element), p->ld_from, 0, 1};
}

static bool check_numbers(struct t3_check* check, const struct t3_place_rows_arguments* p) {
  const struct t3_named_value switches[] = {{"uncached", p->uncached}};
  if (!t3_check_switches(check, switches, 1)) return false;
  if (p->element > T3_FP32)
    return t3_refuse(check, T3_BAD_PACKET, "element %u: 0 (fp16), 1 (bf16) or 2 (fp32) expected", p->element);
  if (p->wavefronts == 0 || p->wavefronts > 8 || p->first_row % p->wavefronts != 0)
    return t3_refuse(check, T3_BAD_PACKET, "first_row %u of %u wavefronts: a multiple of 1 to 8 expected", p->first_row,
                     p->wavefronts);
  if (p->rows - 1 >= T3_ROWS_MAX || p->columns - 1 >= T3_ROWS_MAX || p->first_row > T3_ROWS_MAX)
    return t3_refuse(check, T3_BAD_PACKET, "rows %u, columns %u, first_row %u: 1 to %d, 1 to %d, 0 to %d expected",
                     p->rows, p->columns, p->first_row, T3_ROWS_MAX, T3_ROWS_MAX, T3_ROWS_MAX);
  if (p->tile_columns == 0 || t3_unaligned(t3_row_bytes_of(p->tile_columns, p->element)))
    return t3_refuse(check, T3_BAD_PACKET, "tile_columns %u: 1 or more of a multiple of 32 bytes expected",
                     p->tile_columns);
  return true;
}

static bool check(struct t3_check* check, const struct t3_launch* launch) {
  const struct t3_place_rows_arguments* p = launch->arguments;
  if (!check_numbers(check, p)) return false;
  const struct t3_matrices all[] = {written_of(p), read_of(p)};
  if (!t3_check_matrix(check, &all[0]) || !t3_check_matrix(check, &all[1])) return false;
  const struct t3_grid grid = grid_of(p);
  const uint64_t tiles = (uint64_t)t3_divide_up(p->rows, p->wavefronts) * t3_tiles_across(&grid);
  return t3_check_workgroups(check, tiles) && t3_check_overlap(check, &all[0], &all[1]);
}

static struct t3_plan plan(const struct t3_device* device, const struct t3_launch* launch) {
  const struct t3_place_rows_arguments* p = launch->arguments;
  const struct t3_grid grid = grid_of(p);
  const struct t3_matrices written = written_of(p), read = read_of(p);
  return (struct t3_plan){.name = "place rows",
                          .workgroups = t3_tiles_of(&grid),
                          .workgroups_per_cu = device->kernels.rows.workgroups_per_cu,
                          .register_bytes = p->wavefronts * (uint32_t)p->tile_columns * (uint32_t)sizeof(float),
                          .waves = 1,
                          .tiles = 1,
                          .written = {t3_range_of(&written)},
                          .written_count = 1,
                          .read = {t3_range_of(&read)},
                          .read_count = 1,
                          .stores_here = true,
                          .tiles_named = p->uncached ? T3_TILES_NAMED : T3_TILES_FORGOTTEN};
}

const struct t3_kernel t3_place_rows_kernel = {.name = "place_rows",
                                               .arguments = T3_PLACE_ROWS_ARGUMENTS,
                                               .reads = "place_read",
                                               .writes = "place_write",
                                               .check = check,
                                               .plan = plan,
                                               .run = run};
