/* The expert GEMM (MoE) and its all-to-all in one persistent kernel (Punniyamurthy et al., Optimizing Distributed ML
 * Communication with Fused Computation-Collective Operations, SC 2024). Workgroups take tiles round-robin and store the
 * rows of each to the tokens' owners as soon as the tile is finished. Tiles with other GPUs' tokens come first,
 * round-robin over the GPUs, so that all links are busy. Before the first tile with own tokens alone, a workgroup sets
 * its flag on all other GPUs. A flag cannot overtake the workgroup's stores. At the end the workgroup waits for the
 * others' flags. */
#include "t3/arguments/gemm_all_to_all.h"
#include "kernels/gemm/product.h"
#include "kernels/operands.h"
#include "kernels/workgroup_flags.h"
#include "t3/address.h"
#include "workloads/experts/experts_layout.h"

static struct t3_experts experts_of(const struct t3_gemm_all_to_all_arguments* p) {
  return (struct t3_experts){
      .tokens = p->tokens, .hidden = p->hidden, .inner = p->inner, .element = (enum t3_element)p->element};
}

static struct t3_grid grid_of(const struct t3_gemm_all_to_all_arguments* p) {
  return (struct t3_grid){.rows = p->tokens,
                          .columns = p->hidden,
                          .tile_rows = p->tile_rows,
                          .tile_columns = p->tile_columns,
                          .wavefronts = p->wavefronts,
                          .element = (enum t3_element)p->element};
}

/* Rows of tiles, of which some have this GPU's tokens alone. */
struct tile_rows {
  uint32_t own_begin, own_end, all;
};

static struct tile_rows tile_rows_of(const struct t3_gemm_all_to_all_arguments* p) {
  const uint64_t first = t3_flat_chunk_begin(p->tokens, p->gpu, p->gpus),
                 end = t3_flat_chunk_begin(p->tokens, p->gpu + 1, p->gpus);
  struct tile_rows rows = {.all = t3_divide_up(p->tokens, p->tile_rows)};
  rows.own_begin = t3_divide_up((uint32_t)first, p->tile_rows);
  rows.own_end = end == p->tokens ? rows.all : (uint32_t)end / p->tile_rows;
  if (rows.own_end < rows.own_begin) rows.own_end = rows.own_begin;
  return rows;
}

/* Returns the row for a place: the others' rows from behind the own ones on, in as many parts as there are other GPUs,
 * round-robin over the parts. */
static uint32_t row_in_turn(const struct t3_gemm_all_to_all_arguments* p, const struct tile_rows* rows, uint32_t turn) {
  const uint32_t own = rows->own_end - rows->own_begin, others = rows->all - own, parts = p->gpus - 1;
  if (turn >= others) return rows->own_begin + turn - others;
  const uint32_t each = others / parts, larger = others % parts, in_all = each * parts;
  const uint32_t part = turn < in_all ? turn % parts : turn - in_all, place = turn < in_all ? turn / parts : each;
  return (rows->own_end + part * each + t3_smaller(part, larger) + place) % rows->all;
}

/* Rows of the tile that one wavefront has and one GPU owns, from `row` of the product on. */
static uint32_t store_run(struct t3_wave* wave, const struct t3_experts* e, struct t3_rectangle place,
                          struct t3_rectangle part, uint32_t row) {
  const struct t3_gemm_all_to_all_arguments* p = wave->arguments;
  const uint32_t owner = t3_experts_owner(e, row, p->gpus);
  const uint64_t first = t3_flat_chunk_begin(p->tokens, owner, p->gpus), bytes = t3_experts_row_bytes(e);
  const uint32_t rows = t3_smaller(part.row + part.rows, (uint32_t)first + t3_experts_tokens(e, owner, p->gpus)) - row;
  t3_store(wave, t3_product_sums(place),
           (struct t3_access){.address = t3_on_gpu(owner, p->out) + ((row - first) * p->gpus + p->gpu) * bytes +
                                         (uint64_t)part.column * t3_element_bytes(e->element),
                              .stride = p->gpus * bytes,
                              .rows = rows,
                              .columns = part.columns,
                              .element = e->element,
                              .row = row - place.row});
  return rows;
}

static void store_tile(struct t3_wave* wave, const struct t3_experts* e, const struct t3_grid* grid,
                       struct t3_rectangle place) {
  for (uint32_t wavefront = 0; wavefront < grid->wavefronts; ++wavefront) {
    const struct t3_rectangle part = t3_wavefront_of(grid, place, wavefront);
    for (uint32_t done = 0; done < part.rows;) done += store_run(wave, e, place, part, part.row + done);
  }
}

static void tell_all(struct t3_wave* wave, const struct t3_peer_flags* flags) {
  for (uint32_t i = 1; i < flags->gpus; ++i) t3_tell_peer(wave, flags, 0, (flags->gpu + i) % flags->gpus);
}

static void run(struct t3_wave* wave) {
  const struct t3_gemm_all_to_all_arguments* p = wave->arguments;
  const struct t3_experts experts = experts_of(p);
  const struct t3_grid grid = grid_of(p);
  const struct tile_rows rows = tile_rows_of(p);
  const struct t3_peer_flags flags = {p->ready, p->gpu, p->gpus};
  const struct t3_factors factors = {.a = p->a,
                                     .b = p->b,
                                     .lda = p->lda,
                                     .ldb = p->ldb,
                                     .k = p->inner,
                                     .tile_rows = p->tile_rows,
                                     .tile_columns = p->tile_columns,
                                     .element = grid.element};
  const uint32_t across = t3_tiles_across(&grid), others = rows.all - (rows.own_end - rows.own_begin);
  bool told = false;
  for (uint64_t turn = wave->workgroup; turn < t3_tiles_of(&grid); turn += wave->workgroups) {
    const uint32_t row_turn = (uint32_t)(turn / across), column = (uint32_t)(turn % across);
    if (row_turn >= others && !told) {
      tell_all(wave, &flags);
      told = true;
    }
    const struct t3_rectangle place = t3_tile_of(&grid, row_in_turn(p, &rows, row_turn) * across + column);
    t3_multiply_tile(wave, &factors, place);
    store_tile(wave, &experts, &grid, place);
  }
  if (!told) tell_all(wave, &flags);
  t3_trace_span(wave, "awaits results", p->gpu);
  t3_fence(wave);
  t3_await_peers(wave, &flags, 0);
}

enum { OUT, READY, A, B, BUFFERS };

static void buffers_of(const struct t3_gemm_all_to_all_arguments* p, uint32_t gpu, uint32_t workgroups,
                       struct t3_matrices* all) {
  const struct t3_experts e = experts_of(p);
  all[OUT] = t3_piece("out", p->out, t3_experts_out_bytes(&e, gpu, p->gpus));
  all[READY] = t3_piece("ready", p->ready, t3_all_peer_flag_bytes(p->gpus, workgroups, 1));
  all[A] = (struct t3_matrices){"a", p->a, p->tokens, t3_row_bytes_of(p->inner, p->element), p->lda, 0, 1};
  all[B] = (struct t3_matrices){"b", p->b, p->inner, t3_row_bytes_of(p->hidden, p->element), p->ldb, 0, 1};
}

static bool check_buffers(struct t3_check* check, const struct t3_gemm_all_to_all_arguments* p, uint32_t workgroups) {
  struct t3_matrices all[BUFFERS];
  buffers_of(p, p->gpu, workgroups, all);
  for (const struct t3_matrices* m = all; m < all + BUFFERS; ++m) {
    if (!t3_check_matrix(check, m)) return false;
    for (const struct t3_matrices* written = all; written < m && written <= all + READY; ++written)
      if (!t3_check_overlap(check, written, m)) return false;
  }
  return true;
}

static bool check_numbers(struct t3_check* check, const struct t3_gemm_all_to_all_arguments* p, uint32_t workgroups) {
  if (!t3_check_place(check, p->gpu, p->gpus)) return false;
  if (workgroups == 0)
    return t3_refuse(check, T3_BAD_PACKET, "0 workgroups: 1 or more, as many as on the other GPUs, expected");
  if (p->element > T3_FP32)
    return t3_refuse(check, T3_BAD_PACKET, "element %u: 0 (fp16), 1 (bf16) or 2 (fp32) expected", p->element);
  if (p->tokens < p->gpus || p->tokens > T3_ROWS_MAX || p->hidden - 1 >= T3_ROWS_MAX || p->inner - 1 >= T3_ROWS_MAX)
    return t3_refuse(check, T3_BAD_PACKET, "tokens %u, hidden %u, inner %u: %u to %d, 1 to %d, 1 to %d expected",
                     p->tokens, p->hidden, p->inner, p->gpus, T3_ROWS_MAX, T3_ROWS_MAX, T3_ROWS_MAX);
  if (p->wavefronts - 1 >= 8 || p->tile_rows % p->wavefronts != 0)
    return t3_refuse(check, T3_BAD_PACKET, "%u wavefronts: 1 to 8 expected that divide the tile's %u rows",
                     p->wavefronts, p->tile_rows);
  const struct t3_output_operand product = {p->out, p->tokens, p->hidden, 0, p->element};
  return t3_check_tiles(check, &product, p->tile_rows, p->tile_columns);
}

static bool check(struct t3_check* check, const struct t3_launch* launch) {
  const struct t3_gemm_all_to_all_arguments* p = launch->arguments;
  return check_numbers(check, p, launch->workgroups) && check_buffers(check, p, launch->workgroups) &&
         t3_check_reach(check, p->gpu, p->gpus, "out", p->out);
}

/* The first GPU has most of the tokens. */
static struct t3_plan plan(const struct t3_device* device, const struct t3_launch* launch) {
  const struct t3_gemm_all_to_all_arguments* p = launch->arguments;
  struct t3_matrices own[BUFFERS], most[BUFFERS];
  buffers_of(p, p->gpu, launch->workgroups, own);
  buffers_of(p, 0, launch->workgroups, most);
  struct t3_plan plan = {.name = "gemm with all-to-all",
                         .workgroups = launch->workgroups,
                         .together = true,
                         .written = {t3_range_of(&own[OUT])},
                         .written_count = 1,
                         .read = {t3_range_of(&own[A]), t3_range_of(&own[B])},
                         .read_count = 2,
                         .sent = {t3_local_range(most[OUT])},
                         .sent_count = 1,
                         .shared = {t3_local_range(most[READY])},
                         .shared_count = 1,
                         .awaits_arrivals = true,
                         .stores_here = true};
  t3_plan_tiles(&plan, device, p->tile_rows, p->tile_columns);
  return plan;
}

const struct t3_kernel t3_gemm_all_to_all_kernel = {.name = "gemm_all_to_all",
                                                    .arguments = T3_GEMM_ALL_TO_ALL_ARGUMENTS,
                                                    .reads = "gemm_read",
                                                    .writes = "gemm_write",
                                                    .check = check,
                                                    .plan = plan,
                                                    .run = run};
