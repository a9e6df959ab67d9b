/* The owner's part of a reduce-scatter: it adds the partial sums of its tiles, and may send the sums on. Workgroups
 * take tiles round-robin, and waves the tile's blocks. Where tiles have flags, a workgroup polls those of a tile before
 * it loads. Public descriptions: the discrete local sum of FLUX (arXiv:2406.06858, section 3.2), the load-reduce and
 * multicast store of ThunderKittens (arXiv:2511.13940). */
#include "t3/arguments/sum_partials.h"
#include "kernels/operands.h"
#include "kernels/ring/blocks.h"
#include "t3/address.h"
#include "t3/collective.h"
#include "workloads/rivals/rival_layout.h"

static struct t3_grid grid_of(const struct t3_sum_partials_arguments* p) {
  return (struct t3_grid){p->m, p->n, p->tile_rows, p->tile_columns, 1, p->ldo, (enum t3_element)p->element};
}

static struct t3_row_run rows_of(const struct t3_sum_partials_arguments* p) {
  const struct t3_grid grid = grid_of(p);
  return t3_rows_of_tiles(&grid, (struct t3_tile_run){p->first_tile, p->tiles});
}

static bool is_from(const struct t3_sum_partials_arguments* p, uint8_t source) { return p->source == source; }
static bool is_to(const struct t3_sum_partials_arguments* p, uint8_t target) { return p->target == target; }

/* A block of a tile: an access whose address counts from the output's element (0, 0). */
static struct t3_access at(struct t3_access block, uint64_t origin) {
  block.address += origin;
  return block;
}

static struct t3_tile tile_for(const struct t3_access* block, uint32_t index) {
  return (struct t3_tile){index, block->rows, block->columns, T3_FP32};
}

/* Slots begin with the run's first row. */
static void add_slots(struct t3_wave* wave, struct t3_access block) {
  const struct t3_sum_partials_arguments* p = wave->arguments;
  const uint64_t before = (uint64_t)rows_of(p).first * p->ldo;
  t3_load(wave, tile_for(&block, 0), at(block, p->own - before));
  for (uint32_t first = 1; first < p->gpus; first += T3_COLLECTIVE_ADDENDS) {
    const uint32_t count = t3_smaller(T3_COLLECTIVE_ADDENDS, p->gpus - first);
    for (uint32_t i = 0; i < count; ++i)
      t3_load(wave, tile_for(&block, 1 + i),
              at(block, p->partials + (p->gpu + first + i) % p->gpus * p->slot_bytes - before));
    for (uint32_t i = 0; i < count; ++i) t3_add(wave, tile_for(&block, 0), tile_for(&block, 1 + i));
  }
}

static void send(struct t3_wave* wave, struct t3_access block) {
  const struct t3_sum_partials_arguments* p = wave->arguments;
  const struct t3_tile sums = tile_for(&block, 0);
  if (is_to(p, T3_SUM_PARTIALS_ARGUMENTS_TARGET_MULTICAST)) {
    t3_store(wave, sums, at(block, t3_on_gpu(T3_ALL_GPUS, p->out)));
    return;
  }
  if (!is_from(p, T3_SUM_PARTIALS_ARGUMENTS_SOURCE_SUMS)) t3_store(wave, sums, at(block, p->out));
  for (uint32_t i = 1; i < p->gpus && is_to(p, T3_SUM_PARTIALS_ARGUMENTS_TARGET_EACH); ++i)
    t3_store(wave, sums, at(block, t3_on_gpu((p->gpu + i) % p->gpus, p->out)));
}

static void sum_block(struct t3_wave* wave, const struct t3_chunk_block* cut) {
  const struct t3_sum_partials_arguments* p = wave->arguments;
  const struct t3_access block = {.address = cut->offset,
                                  .stride = cut->stride,
                                  .rows = cut->rows,
                                  .columns = cut->columns,
                                  .element = (enum t3_element)p->element,
                                  .uncached = true,
                                  .at_once = true};
  if (is_from(p, T3_SUM_PARTIALS_ARGUMENTS_SOURCE_SLOTS))
    add_slots(wave, block);
  else if (is_from(p, T3_SUM_PARTIALS_ARGUMENTS_SOURCE_SWITCH))
    t3_load(wave, tile_for(&block, 0), at(block, t3_on_gpu(T3_ALL_GPUS, p->partials)));
  else
    t3_load(wave, tile_for(&block, 0), at(block, p->partials));
  send(wave, block);
  t3_fence(wave);
}

/* Polls the flags of all GPUs, eight at a time. With one flag the own part is there. */
static bool await(struct t3_wave* wave, uint32_t index) {
  const struct t3_sum_partials_arguments* p = wave->arguments;
  const uint64_t flags = p->flags + (p->one_flag ? 0 : index) * t3_peer_flag_bytes(p->gpus);
  for (uint32_t first = 0; first < p->gpus; first += T3_PEER_FLAG_WORD) {
    struct t3_condition condition = {.address = flags + first, .bytes = T3_PEER_FLAG_WORD, .comparison = T3_EQUAL};
    for (uint32_t i = 0; i < T3_PEER_FLAG_WORD && first + i < p->gpus; ++i) {
      if (p->one_flag && first + i == p->gpu) continue;
      condition.mask |= UINT64_C(0xFF) << 8 * i;
      condition.value |= UINT64_C(1) << 8 * i;
    }
    if (condition.mask != 0 && !t3_wait_value(wave, condition)) return false;
  }
  return true;
}

/* One wave polls for all. */
static bool begin_tile(struct t3_wave* wave, uint32_t index, bool is_first) {
  const struct t3_sum_partials_arguments* p = wave->arguments;
  if (p->flags == 0 || (p->one_flag && !is_first)) return true;
  t3_trace_span(wave, "awaits a tile", T3_NO_TILE);
  const bool there = wave->wave != 0 || await(wave, index);
  t3_workgroup_barrier(wave);
  t3_trace_span(wave, "sum", p->first_tile + index);
  return there;
}

static void run(struct t3_wave* wave) {
  const struct t3_sum_partials_arguments* p = wave->arguments;
  const struct t3_grid grid = grid_of(p);
  for (uint32_t index = wave->workgroup; index < p->tiles; index += wave->workgroups) {
    if (!begin_tile(wave, index, index == wave->workgroup)) return;
    const struct t3_chunk_blocks blocks =
        t3_chunk_blocks_of(&grid, p->first_tile + index, 1, wave->device->kernels.ring.block_bytes);
    for (uint64_t block = wave->wave; block < blocks.count; block += wave->waves) {
      const struct t3_chunk_block cut = t3_chunk_block_of(&blocks, block);
      sum_block(wave, &cut);
    }
  }
}

enum { OUT, PARTIALS, OWN, FLAGS, OPERANDS };

/* Without rows: there is none. */
static void operands_of(const struct t3_sum_partials_arguments* p, struct t3_matrices* all) {
  const struct t3_grid grid = grid_of(p);
  const uint64_t row = t3_row_bytes_of(p->n, p->element), rows = rows_of(p).count;
  const bool by_slots = is_from(p, T3_SUM_PARTIALS_ARGUMENTS_SOURCE_SLOTS);
  all[OUT] = (struct t3_matrices){"out", p->out, p->m, row, p->ldo, 0, 1};
  all[PARTIALS] = by_slots ? t3_piece("partials", p->partials, p->gpus * p->slot_bytes)
                           : (struct t3_matrices){"partials", p->partials, p->m, row, p->ldo, 0, 1};
  all[OWN] = (struct t3_matrices){"own", p->own, by_slots ? rows : 0, row, p->ldo, 0, 1};
  all[FLAGS] =
      t3_piece("flags", p->flags, p->one_flag ? t3_peer_flag_bytes(p->gpus) : t3_tile_flag_bytes(&grid, p->gpus));
  if (p->flags == 0) all[FLAGS].rows = 0;
}

static bool check_operands(struct t3_check* check, const struct t3_sum_partials_arguments* p) {
  struct t3_matrices all[OPERANDS];
  operands_of(p, all);
  for (const struct t3_matrices* m = all; m < all + OPERANDS; ++m) {
    if (m->rows == 0) continue;
    if (!t3_check_matrix(check, m)) return false;
    const bool in_place = m == all + PARTIALS && m->address == all->address;
    if (m != all && !in_place && !t3_check_overlap(check, all, m)) return false;
  }
  return true;
}

/* Sums in the output itself go to peers alone: what comes back through the switch would be added to. */
static bool check_sums(struct t3_check* check, const struct t3_sum_partials_arguments* p) {
  const bool in_place = p->partials == p->out, are_sums = is_from(p, T3_SUM_PARTIALS_ARGUMENTS_SOURCE_SUMS);
  if (are_sums && in_place != is_to(p, T3_SUM_PARTIALS_ARGUMENTS_TARGET_EACH))
    return t3_refuse(check, T3_BAD_PACKET,
                     "sums at " T3_HEX ", out " T3_HEX
                     ", target %u: each (%u) of sums in out, else multicast (%u) expected",
                     p->partials, p->out, p->target, T3_SUM_PARTIALS_ARGUMENTS_TARGET_EACH,
                     T3_SUM_PARTIALS_ARGUMENTS_TARGET_MULTICAST);
  return true;
}

static bool check_numbers(struct t3_check* check, const struct t3_sum_partials_arguments* p) {
  const struct t3_output_operand out = {p->out, p->m, p->n, p->ldo, p->element};
  const struct t3_named_value switches[] = {{"one_flag", p->one_flag}};
  if (p->element > T3_FP32 || p->source > T3_SUM_PARTIALS_ARGUMENTS_SOURCE_SUMS ||
      p->target > T3_SUM_PARTIALS_ARGUMENTS_TARGET_MULTICAST)
    return t3_refuse(check, T3_BAD_PACKET, "element %u, source %u, target %u: at most %d of each expected", p->element,
                     p->source, p->target, 2);
  if (p->m - 1 >= T3_ROWS_MAX || p->n - 1 >= T3_ROWS_MAX)
    return t3_refuse(check, T3_BAD_PACKET, "m %u, n %u: 1 to %d expected", p->m, p->n, T3_ROWS_MAX);
  if (!t3_check_place(check, p->gpu, p->gpus) || !t3_check_switches(check, switches, 1) ||
      !t3_check_tiles(check, &out, p->tile_rows, p->tile_columns))
    return false;
  const struct t3_grid grid = grid_of(p);
  const uint64_t tiles = t3_tiles_of(&grid);
  if (p->tiles == 0 || p->first_tile >= tiles || p->tiles > tiles - p->first_tile)
    return t3_refuse(check, T3_BAD_PACKET, "tiles %u from %u on: 1 or more of %" PRIu64 " expected", p->tiles,
                     p->first_tile, tiles);
  return true;
}

/* What goes to all, or comes from all, goes through a switch that reduces. */
static bool check_reach(struct t3_check* check, const struct t3_sum_partials_arguments* p) {
  const bool by_switch =
      is_from(p, T3_SUM_PARTIALS_ARGUMENTS_SOURCE_SWITCH) || is_to(p, T3_SUM_PARTIALS_ARGUMENTS_TARGET_MULTICAST);
  if (by_switch && !check->reaches(check->cluster, t3_on_gpu(T3_ALL_GPUS, p->out)))
    return t3_refuse(check, T3_NO_PEER, "source %u, target %u: a switch that reduces expected, no link leads to one",
                     p->source, p->target);
  return !is_to(p, T3_SUM_PARTIALS_ARGUMENTS_TARGET_EACH) || t3_check_reach(check, p->gpu, p->gpus, "out", p->out);
}

static bool check(struct t3_check* check, const struct t3_launch* launch) {
  const struct t3_sum_partials_arguments* p = launch->arguments;
  return check_numbers(check, p) && check_sums(check, p) && check_operands(check, p) && check_reach(check, p);
}

/* The rows of complete sums. */
static struct t3_range summed(const struct t3_sum_partials_arguments* p) {
  const struct t3_row_run rows = rows_of(p);
  const uint64_t begin = p->partials + (uint64_t)rows.first * p->ldo;
  return (struct t3_range){begin, begin + (uint64_t)rows.count * p->ldo};
}

/* Sums that only go to peers are not written here. */
static bool writes_here(const struct t3_sum_partials_arguments* p) {
  return !is_from(p, T3_SUM_PARTIALS_ARGUMENTS_SOURCE_SUMS) || is_to(p, T3_SUM_PARTIALS_ARGUMENTS_TARGET_MULTICAST);
}

/* As many workgroups as run at once. Partial sums arrive while it runs, and the own GEMM still writes some. */
static struct t3_plan plan(const struct t3_device* device, const struct t3_launch* launch) {
  const struct t3_sum_partials_arguments* p = launch->arguments;
  const struct t3_ring_parameters* ring = &device->kernels.ring;
  const bool are_sums = is_from(p, T3_SUM_PARTIALS_ARGUMENTS_SOURCE_SUMS);
  const bool by_slots = is_from(p, T3_SUM_PARTIALS_ARGUMENTS_SOURCE_SLOTS);
  struct t3_matrices all[OPERANDS];
  operands_of(p, all);
  return (struct t3_plan){
      .name = "sum of partials",
      .workgroups = t3_smaller(p->tiles, launch->compute_units * ring->workgroups_per_cu),
      .workgroups_per_cu = ring->workgroups_per_cu,
      .register_bytes = (uint32_t)t3_collective_registers(ring->block_bytes, ring->blocks_in_flight),
      .waves = ring->blocks_in_flight,
      .tiles = 1 + T3_COLLECTIVE_ADDENDS,
      .written = {t3_range_of(&all[OUT])},
      .written_count = writes_here(p),
      .read = {are_sums ? summed(p) : t3_range_of(&all[PARTIALS]), t3_range_of(&all[OWN])},
      .read_count = are_sums   ? 1
                    : by_slots ? 2
                               : 0,
      .sent = {t3_local_range(all[OUT])},
      .sent_count = !is_to(p, T3_SUM_PARTIALS_ARGUMENTS_TARGET_HERE),
      .fetched = {t3_local_range(all[PARTIALS])},
      .fetched_count = is_from(p, T3_SUM_PARTIALS_ARGUMENTS_SOURCE_SWITCH),
      .shared = {t3_local_range(all[FLAGS])},
      .shared_count = p->flags != 0,
      .awaits_arrivals = true,
      .awaits_chunks = true,
      .stores_here = writes_here(p)};
}

const struct t3_kernel t3_sum_partials_kernel = {.name = "sum_partials",
                                                 .arguments = T3_SUM_PARTIALS_ARGUMENTS,
                                                 .reads = "rs_read",
                                                 .writes = "rs_write",
                                                 .check = check,
                                                 .plan = plan,
                                                 .run = run};
