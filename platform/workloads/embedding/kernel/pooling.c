/* A bag is pooled as PyTorch's EmbeddingBag_updateOutputKernel_sum_mean does it: where the bag begins and ends, the
 * numbers of its rows, then the rows, of which several are on their way while one is added. Which rows they are is
 * computed, so that runs without data know it as well; their numbers are loaded for the time that it takes. */
#include "pooling.h"

#include <stddef.h>

#include "t3/address.h"

enum { DIMENSION_MAX = 4096 };

enum { SUM_TILE, BEGIN_TILE, INDEX_TILE, FIRST_ROW_TILE };

struct gather {
  const struct t3_pooling* p;
  uint64_t table_address;
  struct t3_bag bag;
};

/* Integers as memory has them, in elements of 4 bytes. */
static void load_integers(struct t3_wave* wave, uint32_t tile, uint64_t address, uint32_t count) {
  const uint32_t columns = count * (T3_POOLING_INDEX_BYTES / 4);
  const struct t3_tile integers = {.index = tile, .rows = 1, .columns = columns, .element = T3_FP32};
  t3_load(wave, integers, (struct t3_access){.address = address, .rows = 1, .columns = columns, .element = T3_FP32});
  t3_wait_tile(wave, integers);
}

/* Where the next one begins is where this one ends; the last one ends with the numbers. */
static void load_indices(struct t3_wave* wave, const struct gather* g, uint32_t table, uint32_t sample) {
  const struct t3_embedding* e = &g->p->embedding;
  const uint64_t bag = (uint64_t)table * e->global_batch + sample;
  load_integers(wave, BEGIN_TILE, g->p->offsets + bag * T3_POOLING_INDEX_BYTES, sample + 1 < e->global_batch ? 2 : 1);
  const uint32_t checked = wave->device->kernels.embedding.checked_indices,
                 most = checked == 0 ? g->bag.count : checked;
  const uint64_t indices = g->p->indices + bag * e->pooling * T3_POOLING_INDEX_BYTES;
  for (uint32_t first = 0; first < g->bag.count; first += most)
    load_integers(wave, INDEX_TILE, indices + first * T3_POOLING_INDEX_BYTES, t3_smaller(most, g->bag.count - first));
}

/* The first row becomes the sum. */
static struct t3_tile tile_of(const struct t3_wave* wave, const struct t3_embedding* e, uint32_t number) {
  struct t3_tile tile = t3_pooling_sum(e);
  if (number != 0) tile.index = FIRST_ROW_TILE + (number - 1) % wave->device->kernels.embedding.rows_in_flight;
  return tile;
}

static void load_row(struct t3_wave* wave, const struct gather* g, uint32_t number) {
  const struct t3_embedding* e = &g->p->embedding;
  t3_load(wave, tile_of(wave, e, number),
          (struct t3_access){.address = g->table_address + g->bag.rows[number] * t3_embedding_row_bytes(e),
                             .rows = 1,
                             .columns = e->dimension,
                             .element = e->element});
}

/* Instructions on the lanes, and the time after them in which others may use the lanes. */
static void spend(struct t3_wave* wave, double operations, double ns) {
  const struct t3_vector_work work = {.operations = operations, .step_ns = (uint32_t)ns};
  if (work.operations != 0 || work.step_ns != 0) t3_work(wave, &work);
}

struct division {
  uint32_t elements;
  float by;
};

static void divide(const void* argument, float* const* operands) {
  const struct division* d = argument;
  for (uint32_t i = 0; i < d->elements; ++i) operands[0][i] /= d->by;
}

static void make_mean(struct t3_wave* wave, const struct t3_embedding* e, uint32_t count) {
  const struct division division = {e->dimension, (float)count};
  const struct t3_vector_work work = {.operations = e->dimension,
                                      .operands = 1,
                                      .tiles = {t3_pooling_sum(e)},
                                      .compute = divide,
                                      .argument = &division};
  t3_work(wave, &work);
}

void t3_pool(struct t3_wave* wave, const struct t3_pooling* p, uint32_t table, uint32_t sample) {
  const struct t3_embedding* e = &p->embedding;
  const struct t3_embedding_parameters* tuning = &wave->device->kernels.embedding;
  struct gather g = {.p = p, .table_address = p->tables + (uint64_t)table * e->rows * t3_embedding_row_bytes(e)};
  t3_embedding_bag(e, (uint64_t)p->gpu * e->tables_per_gpu + table, sample, &g.bag);
  spend(wave, 0, tuning->bag_ns);
  load_indices(wave, &g, table, sample);
  uint32_t loaded = 0;
  for (uint32_t number = 0; number < g.bag.count; ++number) {
    for (; loaded < g.bag.count && loaded < number + wave->device->kernels.embedding.rows_in_flight; ++loaded)
      load_row(wave, &g, loaded);
    if (number == 0)
      t3_wait_tile(wave, t3_pooling_sum(e));
    else
      t3_add(wave, t3_pooling_sum(e), tile_of(wave, e, number));
    spend(wave, 1.0 * e->dimension * tuning->row_instructions, tuning->row_ns);
  }
  if (e->mean) make_mean(wave, e, g.bag.count);
}

struct factor {
  uint32_t elements;
  float by;
};

static void multiply(const void* argument, float* const* operands) {
  const struct factor* f = argument;
  for (uint32_t i = 0; i < f->elements; ++i) operands[0][i] *= f->by;
}

void t3_update_bag(struct t3_wave* wave, const struct t3_pooling* p, uint32_t table, uint32_t sample, uint64_t gradient,
                   float rate) {
  const struct t3_embedding* e = &p->embedding;
  struct gather g = {.p = p, .table_address = p->tables + (uint64_t)table * e->rows * t3_embedding_row_bytes(e)};
  t3_embedding_bag(e, (uint64_t)p->gpu * e->tables_per_gpu + table, sample, &g.bag);
  load_indices(wave, &g, table, sample);
  struct t3_access access = {.address = gradient, .rows = 1, .columns = e->dimension, .element = e->element};
  t3_load(wave, t3_pooling_sum(e), access);
  t3_wait_tile(wave, t3_pooling_sum(e));
  const struct factor factor = {e->dimension, -(e->mean ? rate / (float)g.bag.count : rate)};
  const struct t3_vector_work work = {.operations = e->dimension,
                                      .operands = 1,
                                      .tiles = {t3_pooling_sum(e)},
                                      .compute = multiply,
                                      .argument = &factor};
  t3_work(wave, &work);
  for (uint32_t number = 0; number < g.bag.count; ++number) {
    access.address = g.table_address + g.bag.rows[number] * t3_embedding_row_bytes(e);
    t3_update(wave, t3_pooling_sum(e), access);
  }
  t3_fence(wave);
}

bool t3_check_pooling(struct t3_check* check, const struct t3_pooling* p, uint32_t gpus) {
  const struct t3_embedding* e = &p->embedding;
  if (!t3_check_place(check, p->gpu, gpus)) return false;
  if (e->element > T3_FP32)
    return t3_refuse(check, T3_BAD_PACKET, "element %u: 0 (fp16), 1 (bf16) or 2 (fp32) expected", e->element);
  if (e->dimension - 1 >= DIMENSION_MAX || e->pooling == 0 || e->pooling > T3_POOLING_MAX)
    return t3_refuse(check, T3_BAD_PACKET, "dimension %u, pooling %u: 1 to %d, 1 to %d expected", e->dimension,
                     e->pooling, DIMENSION_MAX, T3_POOLING_MAX);
  if (e->rows - 1 >= T3_ROWS_MAX || e->global_batch < gpus || e->global_batch > T3_ROWS_MAX)
    return t3_refuse(check, T3_BAD_PACKET, "rows %u, global_batch %u: 1 to %d, %u to %d expected", e->rows,
                     e->global_batch, T3_ROWS_MAX, gpus, T3_ROWS_MAX);
  if (e->tables_per_gpu - 1 >= T3_ROWS_MAX)
    return t3_refuse(check, T3_BAD_PACKET, "tables_per_gpu %u: 1 to %d expected", e->tables_per_gpu, T3_ROWS_MAX);
  return true;
}

bool t3_check_table(struct t3_check* check, const struct t3_pooling* p, uint32_t gpus, uint32_t table,
                    uint32_t workgroups) {
  const uint32_t tables = p->embedding.tables_per_gpu;
  if (!t3_check_pooling(check, p, gpus)) return false;
  if (table >= tables)
    return t3_refuse(check, T3_BAD_PACKET, "table %u: one below tables_per_gpu, %u, expected", table, tables);
  if (workgroups == 0) return t3_refuse(check, T3_BAD_PACKET, "0 workgroups: 1 or more expected, whatever the batch");
  return true;
}

enum { TABLES, INDICES, OFFSETS, BUFFERS };

static void buffers_of(const struct t3_pooling* p, struct t3_matrices* all) {
  const struct t3_embedding* e = &p->embedding;
  all[TABLES] = t3_piece("tables", p->tables, t3_embedding_table_bytes(e));
  all[INDICES] = t3_piece("indices", p->indices, t3_embedding_index_bytes(e));
  all[OFFSETS] = t3_piece("offsets", p->offsets, t3_embedding_offset_bytes(e));
}

bool t3_check_pooling_beside(struct t3_check* check, const struct t3_pooling* p, const struct t3_matrices* written) {
  struct t3_matrices all[BUFFERS];
  buffers_of(p, all);
  return t3_check_pieces_beside(check, all, BUFFERS, written);
}

void t3_plan_pooling(struct t3_plan* plan, const struct t3_pooling* p) {
  struct t3_matrices all[BUFFERS];
  buffers_of(p, all);
  for (uint32_t i = 0; i < BUFFERS; ++i) plan->read[plan->read_count++] = t3_range_of(&all[i]);
}

bool t3_check_update(struct t3_check* check, const struct t3_pooling* p, const struct t3_matrices* gradients) {
  struct t3_matrices all[BUFFERS];
  buffers_of(p, all);
  for (const struct t3_matrices* m = all; m < all + BUFFERS; ++m)
    if (!t3_check_piece(check, m) || (m != all && !t3_check_overlap(check, all, m))) return false;
  return t3_check_piece(check, gradients) && t3_check_overlap(check, all, gradients);
}

void t3_plan_update(struct t3_plan* plan, const struct t3_pooling* p) {
  struct t3_matrices all[BUFFERS];
  buffers_of(p, all);
  plan->written[plan->written_count++] = t3_range_of(&all[TABLES]);
  plan->read[plan->read_count++] = t3_range_of(&all[INDICES]);
  plan->read[plan->read_count++] = t3_range_of(&all[OFFSETS]);
}
