/* A GEMM whose first factor is gathered while it runs: workgroups poll the flags that follow other GPUs' rows. The own
 * rows come first. Public description: FLUX (Chang et al., arXiv:2406.06858, section 3.3). */
#include "t3/arguments/gemm_gathered.h"
#include "kernels/gemm/product.h"
#include "kernels/operands.h"
#include "workloads/rivals/rival_layout.h"

static struct t3_grid grid_of(const struct t3_gemm_gathered_arguments* p) {
  return (struct t3_grid){
      p->m, p->n, p->tile_rows, p->tile_columns, p->wavefronts, p->ldo, (enum t3_element)p->element};
}

/* Polls the flags of all GPUs of which the tile has rows. */
static bool await_rows(struct t3_wave* wave, struct t3_rectangle tile) {
  const struct t3_gemm_gathered_arguments* p = wave->arguments;
  for (uint32_t gpu = 0; gpu < p->gpus; ++gpu) {
    const struct t3_row_run rows = t3_part_of_rows((struct t3_row_run){0, p->m}, gpu, p->gpus);
    const bool needed = rows.first < tile.row + tile.rows && tile.row < rows.first + rows.count;
    const struct t3_condition condition = {
        .address = p->flags + gpu, .bytes = 1, .comparison = T3_EQUAL, .mask = UINT8_MAX, .value = 1};
    if (needed && gpu != p->gpu && !t3_wait_value(wave, condition)) return false;
  }
  return true;
}

static void store_tile(struct t3_wave* wave, const struct t3_grid* grid, struct t3_rectangle tile) {
  const struct t3_gemm_gathered_arguments* p = wave->arguments;
  for (uint32_t wavefront = 0; wavefront < grid->wavefronts; ++wavefront) {
    const struct t3_rectangle part = t3_wavefront_of(grid, tile, wavefront);
    if (part.rows == 0) continue;
    t3_store(wave, t3_product_sums(tile),
             (struct t3_access){.address = p->out + t3_offset_of(grid, part.row, part.column),
                                .stride = grid->stride,
                                .rows = part.rows,
                                .columns = part.columns,
                                .element = grid->element,
                                .row = part.row - tile.row});
  }
}

static void run(struct t3_wave* wave) {
  const struct t3_gemm_gathered_arguments* p = wave->arguments;
  const struct t3_grid grid = grid_of(p);
  const uint32_t number = (uint32_t)(((uint64_t)p->first_tile + wave->workgroup) % wave->workgroups);
  const struct t3_rectangle tile = t3_tile_of(&grid, number);
  const struct t3_factors factors = {.a = p->a,
                                     .b = p->b,
                                     .lda = p->lda,
                                     .ldb = p->ldb,
                                     .k = p->k,
                                     .tile_rows = p->tile_rows,
                                     .tile_columns = p->tile_columns,
                                     .element = grid.element,
                                     .transpose_b = p->transpose_b};
  t3_trace_span(wave, "awaits rows", T3_NO_TILE);
  if (!await_rows(wave, tile)) return;
  t3_multiply_tile(wave, &factors, tile);
  t3_trace_span(wave, "store", number);
  store_tile(wave, &grid, tile);
  t3_fence(wave);
}

enum { OUT, A, B, FLAGS, OPERANDS };

static void operands_of(const struct t3_gemm_gathered_arguments* p, struct t3_matrices* all) {
  const uint32_t b_rows = p->transpose_b ? p->n : p->k, b_columns = p->transpose_b ? p->k : p->n;
  all[OUT] = (struct t3_matrices){"out", p->out, p->m, t3_row_bytes_of(p->n, p->element), p->ldo, 0, 1};
  all[A] = (struct t3_matrices){"a", p->a, p->m, t3_row_bytes_of(p->k, p->element), p->lda, 0, 1};
  all[B] = (struct t3_matrices){"b", p->b, b_rows, t3_row_bytes_of(b_columns, p->element), p->ldb, 0, 1};
  all[FLAGS] = t3_piece("flags", p->flags, t3_peer_flag_bytes(p->gpus));
}

static bool check_operands(struct t3_check* check, const struct t3_gemm_gathered_arguments* p) {
  struct t3_matrices all[OPERANDS];
  operands_of(p, all);
  for (const struct t3_matrices* m = all; m < all + OPERANDS; ++m) {
    if (!t3_check_matrix(check, m)) return false;
    if (m != all && !t3_check_overlap(check, all, m)) return false;
  }
  return true;
}

static bool check(struct t3_check* check, const struct t3_launch* launch) {
  const struct t3_gemm_gathered_arguments* p = launch->arguments;
  const struct t3_output_operand out = {p->out, p->m, p->n, p->ldo, p->element};
  const struct t3_named_value switches[] = {{"transpose_b", p->transpose_b}};
  if (p->element > T3_FP32 || p->wavefronts == 0 || p->wavefronts > 8 || p->tile_rows % p->wavefronts != 0)
    return t3_refuse(check, T3_BAD_PACKET,
                     "element %u, %u wavefronts: at most %d, 1 to 8 that divide %u rows, expected", p->element,
                     p->wavefronts, T3_FP32, p->tile_rows);
  if (p->m - 1 >= T3_ROWS_MAX || p->n - 1 >= T3_ROWS_MAX || p->k - 1 >= T3_ROWS_MAX)
    return t3_refuse(check, T3_BAD_PACKET, "m %u, n %u, k %u: 1 to %d expected", p->m, p->n, p->k, T3_ROWS_MAX);
  if (!t3_check_place(check, p->gpu, p->gpus) || !t3_check_switches(check, switches, 1) ||
      !t3_check_tiles(check, &out, p->tile_rows, p->tile_columns))
    return false;
  const struct t3_grid grid = grid_of(p);
  if (p->first_tile >= t3_tiles_of(&grid))
    return t3_refuse(check, T3_BAD_PACKET, "first_tile %u: one of %u expected", p->first_tile, t3_tiles_of(&grid));
  return check_operands(check, p);
}

static struct t3_plan plan(const struct t3_device* device, const struct t3_launch* launch) {
  const struct t3_gemm_gathered_arguments* p = launch->arguments;
  const struct t3_grid grid = grid_of(p);
  struct t3_matrices all[OPERANDS];
  operands_of(p, all);
  struct t3_plan plan = {.name = "gemm of gathered rows",
                         .workgroups = t3_tiles_of(&grid),
                         .written = {t3_range_of(&all[OUT])},
                         .written_count = 1,
                         .read = {t3_range_of(&all[A]), t3_range_of(&all[B])},
                         .read_count = 2,
                         .shared = {t3_local_range(all[FLAGS])},
                         .shared_count = 1,
                         .awaits_arrivals = true,
                         .stores_here = true};
  t3_plan_tiles(&plan, device, p->tile_rows, p->tile_columns);
  return plan;
}

const struct t3_kernel t3_gemm_gathered_kernel = {.name = "gemm_gathered",
                                                  .arguments = T3_GEMM_GATHERED_ARGUMENTS,
                                                  .reads = "gemm_read",
                                                  .writes = "gemm_write",
                                                  .is_producer = true,
                                                  .check = check,
                                                  .plan = plan,
                                                  .run = run};
