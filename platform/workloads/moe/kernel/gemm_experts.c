/* The grouped GEMM of a GPU's experts. A tile has rows of one expert, which lie in pieces: the rows of each GPU
 * behind its first slot. Tiles without rows are no tiles. Workgroups take tiles round-robin, expert by expert.
 * Results are stored by slot, or each row is added to its token's sum at the owner. */
#include "t3/arguments/gemm_experts.h"
#include "kernels/gemm/product.h"
#include "moe_kernels.h"

static struct t3_moe shape_of(const struct t3_gemm_experts_arguments* p) {
  return (struct t3_moe){.tokens = p->tokens,
                         .hidden = p->hidden,
                         .inner = p->inner,
                         .experts = p->experts,
                         .top_k = p->top_k,
                         .slots = p->slots,
                         .element = (enum t3_element)p->element,
                         .tile_rows = p->tile_rows,
                         .tile_columns = p->tile_columns,
                         .wavefronts = p->wavefronts,
                         .gpus_per_node = p->gpus_per_node};
}

static bool is_to_owners(const struct t3_gemm_experts_arguments* p) {
  return p->target == T3_GEMM_EXPERTS_ARGUMENTS_TARGET_OWNERS;
}

/* An expert's product: its tiles follow those of the experts before it. */
struct product {
  struct t3_moe e;
  struct t3_moe_control control;
  struct t3_grid grid;
  uint32_t expert, first_tile, tiles;
  uint32_t rows[T3_MOE_LINE_WORDS]; /* by GPU */
};

/* Rows of a tile that lie one behind the other: those of a GPU from slot `first` on. */
struct piece {
  uint32_t source, first, rows;
};
struct tile {
  struct t3_rectangle place;
  uint32_t count;
  struct piece pieces[T3_MOE_GPUS_MAX];
};

static bool load_expert(struct t3_wave* wave, struct product* product) {
  const struct t3_gemm_experts_arguments* p = wave->arguments;
  const uint64_t counts = p->control + product->control.counts;
  const struct t3_moe_senders senders = {&product->e, p->control,     p->gpu,       p->gpus,
                                         p->parts,    p->list_signal, p->list_epoch};
  const bool read = p->flagged ? t3_moe_await_counts(wave, &senders, product->expert, product->rows)
                               : t3_moe_read_counts(wave, counts, product->expert, p->gpus, product->rows);
  uint32_t all = 0;
  if (!read) return false;
  for (uint32_t gpu = 0; gpu < p->gpus; ++gpu) all += product->rows[gpu];
  product->grid = t3_moe_grid(&product->e, all);
  product->tiles = t3_tiles_of(&product->grid);
  return true;
}

/* Goes on to the expert that has the tile; behind the last expert there is none. False: memory has refused a read. */
static bool find_expert(struct t3_wave* wave, struct product* product, uint64_t tile) {
  const struct t3_gemm_experts_arguments* p = wave->arguments;
  const uint32_t local = p->experts / p->gpus;
  while (product->expert < local && tile >= (uint64_t)product->first_tile + product->tiles) {
    product->first_tile += product->tiles;
    product->tiles = 0;
    if (++product->expert < local && !load_expert(wave, product)) return false;
  }
  return true;
}

/* Does the same by the table of tiles that the program has made. */
static bool find_planned(struct t3_wave* wave, struct product* product, uint64_t tile) {
  const struct t3_gemm_experts_arguments* p = wave->arguments;
  const uint32_t local = p->experts / p->gpus;
  struct t3_moe_list ends = {.address = p->control + product->control.ends};
  for (product->expert = 0; product->expert < local; ++product->expert) {
    uint32_t end = 0;
    if (!t3_moe_list_at(wave, &ends, product->expert, &end)) return false;
    if (tile < end) return load_expert(wave, product);
    product->first_tile = end;
  }
  return true;
}

/* Does the same where an expert has as many tiles as its slots need. */
static bool find_by_slots(struct t3_wave* wave, struct product* product, uint64_t tile) {
  const struct t3_gemm_experts_arguments* p = wave->arguments;
  const struct t3_grid most = t3_moe_grid(&product->e, p->slots * p->gpus);
  const uint32_t local = p->experts / p->gpus, each = t3_tiles_of(&most);
  product->expert = t3_smaller((uint32_t)(tile / each), local);
  product->first_tile = product->expert * each;
  return product->expert == local || load_expert(wave, product);
}

static bool find(struct t3_wave* wave, struct product* product, uint64_t tile) {
  const struct t3_gemm_experts_arguments* p = wave->arguments;
  if (p->plan == T3_GEMM_EXPERTS_ARGUMENTS_PLAN_SLOTS) return find_by_slots(wave, product, tile);
  if (p->plan == T3_GEMM_EXPERTS_ARGUMENTS_PLAN_TILES) return find_planned(wave, product, tile);
  return find_expert(wave, product, tile);
}

static struct tile tile_of(const struct t3_gemm_experts_arguments* p, const struct product* product, uint32_t number) {
  struct tile tile = {.place = t3_tile_of(&product->grid, number)};
  uint32_t before = 0;
  for (uint32_t i = 0; i < p->gpus; ++i) {
    const uint32_t source = t3_moe_source(p->gpu, i, p->gpus), rows = product->rows[source];
    const uint32_t begin = before > tile.place.row ? before : tile.place.row;
    const uint32_t end = t3_smaller(before + rows, tile.place.row + tile.place.rows);
    if (begin < end) tile.pieces[tile.count++] = (struct piece){source, begin - before, end - begin};
    before += rows;
  }
  return tile;
}

static uint64_t slot_of(const struct t3_gemm_experts_arguments* p, const struct product* product,
                        const struct piece* piece) {
  return t3_moe_slot(&product->e, product->expert, piece->source, p->gpus) + piece->first;
}

static void multiply(struct t3_wave* wave, const struct product* product, const struct tile* tile) {
  const struct t3_gemm_experts_arguments* p = wave->arguments;
  const uint64_t lda = t3_moe_token_bytes(&product->e), ldb = t3_moe_result_bytes(&product->e);
  struct t3_row_piece pieces[T3_MOE_GPUS_MAX];
  for (uint32_t i = 0; i < tile->count; ++i)
    pieces[i] = (struct t3_row_piece){p->rows + slot_of(p, product, &tile->pieces[i]) * lda, tile->pieces[i].rows};
  const struct t3_factors factors = {.b = p->weights + (uint64_t)product->expert * p->inner * ldb,
                                     .lda = (uint32_t)lda,
                                     .ldb = (uint32_t)ldb,
                                     .k = p->inner,
                                     .tile_rows = p->tile_rows,
                                     .tile_columns = p->tile_columns,
                                     .element = product->e.element,
                                     .pieces = pieces,
                                     .piece_count = tile->count};
  t3_multiply_tile(wave, &factors, tile->place);
}

static struct t3_access access_of(const struct product* product, const struct tile* tile, uint64_t row) {
  const uint32_t element = t3_element_bytes(product->e.element);
  return (struct t3_access){.address = row + (uint64_t)tile->place.column * element,
                            .stride = t3_moe_result_bytes(&product->e),
                            .rows = 1,
                            .columns = tile->place.columns,
                            .element = product->e.element};
}

static void store_by_slot(struct t3_wave* wave, const struct product* product, const struct tile* tile) {
  const struct t3_gemm_experts_arguments* p = wave->arguments;
  uint32_t row = 0;
  for (uint32_t i = 0; i < tile->count; row += tile->pieces[i++].rows) {
    const uint64_t slot = slot_of(p, product, &tile->pieces[i]);
    struct t3_access access = access_of(product, tile, p->out + slot * t3_moe_result_bytes(&product->e));
    access.rows = tile->pieces[i].rows;
    access.uncached = t3_moe_is_far(&product->e, p->gpu, tile->pieces[i].source); /* the NIC reads memory */
    access.row = row;
    t3_store(wave, t3_product_sums(tile->place), access);
  }
}

/* The Tracker counts the sums of some tokens together. */
static struct t3_wavefront_tile tracked(uint32_t token) {
  return (struct t3_wavefront_tile){true, 0, token / T3_MOE_TRACKED_ROWS};
}

static bool add_piece(struct t3_wave* wave, const struct product* product, const struct tile* tile,
                      const struct piece* piece, uint32_t row) {
  const struct t3_gemm_experts_arguments* p = wave->arguments;
  const uint64_t number = (uint64_t)product->expert * p->gpus + piece->source;
  struct t3_moe_list ids = {.address = p->control + product->control.origins + number * t3_moe_list_bytes(&product->e)};
  for (uint32_t i = 0; i < piece->rows; ++i) {
    uint32_t id = 0;
    if (!t3_moe_list_at(wave, &ids, piece->first + i, &id)) return false;
    const uint32_t token = id / p->top_k;
    struct t3_access access =
        access_of(product, tile, t3_on_gpu(piece->source, p->out) + (uint64_t)token * t3_moe_result_bytes(&product->e));
    access.row = row + i;
    access.uncached = true;
    access.of = tracked(token);
    t3_update(wave, t3_product_sums(tile->place), access);
  }
  return true;
}

static bool add_at_owners(struct t3_wave* wave, const struct product* product, const struct tile* tile) {
  uint32_t row = 0;
  for (uint32_t i = 0; i < tile->count; row += tile->pieces[i++].rows)
    if (!add_piece(wave, product, tile, &tile->pieces[i], row)) return false;
  return true;
}

static void compute(struct t3_wave* wave, const struct product* product, uint64_t number) {
  const struct t3_gemm_experts_arguments* p = wave->arguments;
  const struct tile tile = tile_of(p, product, (uint32_t)(number - product->first_tile));
  uint32_t before = 0;
  t3_trace_span(wave, "product", (uint32_t)number);
  multiply(wave, product, &tile);
  if (!is_to_owners(p))
    store_by_slot(wave, product, &tile);
  else if (!add_at_owners(wave, product, &tile))
    return;
  t3_fence(wave);
  if (p->flagged)
    t3_fetch_add_32(wave, p->control + product->control.computed + (uint64_t)product->expert * T3_MOE_WORD, 1, &before);
}

/* An owner's sum is complete when each choice has added to it. For those that were dropped the owner adds zeros, a
 * line of them for each workgroup. */
static void add_zeros(struct t3_wave* wave, const struct product* product, uint64_t line) {
  const struct t3_gemm_experts_arguments* p = wave->arguments;
  struct t3_moe_list lost = {.address = p->control + product->control.lost};
  uint32_t count = 0;
  if (!t3_moe_read_word(wave, p->control + product->control.sent + (uint64_t)p->experts * T3_MOE_WORD, &count)) return;
  for (uint64_t i = line * T3_MOE_LINE_WORDS; i < count && i < (line + 1) * T3_MOE_LINE_WORDS; ++i) {
    uint32_t id = 0;
    if (!t3_moe_list_at(wave, &lost, (uint32_t)i, &id)) return;
    const uint32_t token = id / p->top_k;
    for (uint32_t column = 0; column < p->hidden; column += p->tile_columns) {
      const struct tile zeros = {.place = {0, column, 1, t3_smaller(p->tile_columns, p->hidden - column)}};
      struct t3_access access = access_of(product, &zeros, p->out + (uint64_t)token * t3_moe_result_bytes(&product->e));
      access.uncached = true;
      access.of = tracked(token);
      t3_moe_zero(wave, t3_product_sums(zeros.place));
      t3_update(wave, t3_product_sums(zeros.place), access);
    }
    t3_fence(wave);
  }
}

static void run(struct t3_wave* wave) {
  const struct t3_gemm_experts_arguments* p = wave->arguments;
  struct product product = {.e = shape_of(p)};
  const uint32_t local = p->experts / p->gpus;
  product.control = t3_moe_control_of(&product.e, p->gpus);
  t3_trace_span(wave, "awaits rows", T3_NO_TILE);
  if (p->plan == T3_GEMM_EXPERTS_ARGUMENTS_PLAN_NONE && !load_expert(wave, &product)) return;
  for (uint64_t tile = wave->workgroup;; tile += wave->workgroups) {
    if (!find(wave, &product, tile)) return;
    if (product.expert == local) {
      if (is_to_owners(p)) add_zeros(wave, &product, tile - product.first_tile);
      return;
    }
    if (tile < (uint64_t)product.first_tile + product.tiles) compute(wave, &product, tile);
  }
}

enum { OUT, ROWS, WEIGHTS, OPERANDS };

static void operands_of(const struct t3_gemm_experts_arguments* p, struct t3_matrices* all) {
  const struct t3_moe e = shape_of(p);
  const uint64_t results = is_to_owners(p) ? p->tokens : t3_moe_slots(&e);
  all[OUT] = t3_piece("out", p->out, results * t3_moe_result_bytes(&e));
  all[ROWS] = t3_piece("rows", p->rows, t3_moe_slots(&e) * t3_moe_token_bytes(&e));
  all[WEIGHTS] =
      t3_piece("weights", p->weights, (uint64_t)t3_moe_local(&e, p->gpus) * p->inner * t3_moe_result_bytes(&e));
}

static bool check(struct t3_check* check, const struct t3_launch* launch) {
  const struct t3_gemm_experts_arguments* p = launch->arguments;
  const struct t3_moe e = shape_of(p);
  const struct t3_named_value switches[] = {{"target", p->target}, {"flagged", p->flagged}};
  struct t3_matrices all[OPERANDS];
  if (!t3_moe_check(check, &e, p->gpu, p->gpus, p->control) || !t3_check_switches(check, switches, 2)) return false;
  if (launch->workgroups == 0 || p->hidden - 1 >= UINT16_MAX || p->inner - 1 >= UINT16_MAX)
    return t3_refuse(check, T3_BAD_PACKET,
                     "%u workgroups, hidden %u, inner %u: 1 or more, 1 to %u "
                     "of both expected",
                     launch->workgroups, p->hidden, p->inner, UINT16_MAX);
  if (p->flagged && !t3_check_counters(check, p->list_signal, p->experts / p->gpus)) return false;
  if (p->plan > T3_GEMM_EXPERTS_ARGUMENTS_PLAN_SLOTS)
    return t3_refuse(check, T3_BAD_PACKET, "plan %u: at most %d expected", p->plan,
                     T3_GEMM_EXPERTS_ARGUMENTS_PLAN_SLOTS);
  if (p->wavefronts - 1 >= 8 || p->tile_rows % p->wavefronts != 0)
    return t3_refuse(check, T3_BAD_PACKET, "%u wavefronts: 1 to 8 expected that divide the tile's %u rows",
                     p->wavefronts, p->tile_rows);
  const struct t3_output_operand product = {p->out, p->slots * p->gpus, p->hidden, 0, p->element};
  if (!t3_check_tiles(check, &product, p->tile_rows, p->tile_columns)) return false;
  operands_of(p, all);
  for (const struct t3_matrices* m = all; m < all + OPERANDS; ++m)
    if (!t3_check_piece(check, m) || (m != all && !t3_check_overlap(check, all, m))) return false;
  return !is_to_owners(p) || t3_check_reach(check, p->gpu, p->gpus, "out", p->out);
}

static struct t3_plan plan(const struct t3_device* device, const struct t3_launch* launch) {
  const struct t3_gemm_experts_arguments* p = launch->arguments;
  const struct t3_moe e = shape_of(p);
  struct t3_matrices all[OPERANDS];
  operands_of(p, all);
  struct t3_plan plan = {.name = "gemm of experts",
                         .workgroups = launch->workgroups,
                         .written = {t3_range_of(&all[OUT])},
                         .written_count = 1,
                         .read = {t3_range_of(&all[ROWS]), t3_range_of(&all[WEIGHTS])},
                         .read_count = 2,
                         .sent = {t3_local_range(all[OUT])},
                         .sent_count = is_to_owners(p),
                         .shared = {t3_moe_control_range(&e, p->gpus, p->control)},
                         .shared_count = 1,
                         .awaits_arrivals = true,
                         .awaits_chunks = p->flagged,
                         .stores_here = true,
                         .tiles_named = is_to_owners(p) ? T3_TILES_NAMED : T3_TILES_UNNAMED};
  t3_plan_tiles(&plan, device, p->tile_rows, p->tile_columns);
  return plan;
}

const struct t3_kernel t3_gemm_experts_kernel = {.name = "gemm_experts",
                                                 .arguments = T3_GEMM_EXPERTS_ARGUMENTS,
                                                 .reads = "gemm_read",
                                                 .writes = "gemm_write",
                                                 .is_producer = true,
                                                 .check = check,
                                                 .plan = plan,
                                                 .run = run};
