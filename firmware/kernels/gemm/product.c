#include "product.h"

static uint32_t depth_of(const struct t3_tile_product* p, uint32_t k_tile) {
  return t3_smaller(p->depth, p->factors->k - k_tile * p->depth);
}

/* `ahead` K tiles have tiles; the one after them takes the tiles of the first. */
static struct t3_tile k_tile_of_a(const struct t3_tile_product* p, uint32_t k_tile) {
  const uint32_t index = 1 + 2 * ((p->before + k_tile) % p->ahead), depth = depth_of(p, k_tile);
  if (p->factors->transpose_a) return (struct t3_tile){index, depth, p->place.rows, T3_FP32};
  return (struct t3_tile){index, p->place.rows, depth, T3_FP32};
}

static struct t3_tile k_tile_of_b(const struct t3_tile_product* p, uint32_t k_tile) {
  const uint32_t index = 2 + 2 * ((p->before + k_tile) % p->ahead), depth = depth_of(p, k_tile);
  if (p->factors->transpose_b) return (struct t3_tile){index, p->place.columns, depth, T3_FP32};
  return (struct t3_tile){index, depth, p->place.columns, T3_FP32};
}

/* Loads what fills the tile, from (row, column) of a matrix on. */
static void load(struct t3_wave* wave, const struct t3_tile_product* p, struct t3_tile tile, uint64_t matrix,
                 uint32_t stride, uint32_t row, uint32_t column) {
  const enum t3_element element = p->factors->element;
  t3_load(wave, tile,
          (struct t3_access){.address = matrix + (uint64_t)row * stride + (uint64_t)column * t3_element_bytes(element),
                             .stride = stride,
                             .rows = tile.rows,
                             .columns = tile.columns,
                             .element = element});
}

static void load_pieces_of_a(struct t3_wave* wave, const struct t3_tile_product* p, uint32_t k_tile) {
  const struct t3_factors* f = p->factors;
  const struct t3_tile tile = k_tile_of_a(p, k_tile);
  const uint64_t before = (uint64_t)k_tile * p->depth * t3_element_bytes(f->element);
  uint32_t row = 0;
  for (const struct t3_row_piece* piece = f->pieces; piece < f->pieces + f->piece_count; row += piece++->rows)
    t3_load(wave, tile,
            (struct t3_access){.address = piece->address + before,
                               .stride = f->lda,
                               .rows = piece->rows,
                               .columns = tile.columns,
                               .element = f->element,
                               .row = row});
}

static void load_k_tile(struct t3_wave* wave, const struct t3_tile_product* p, uint32_t k_tile) {
  const struct t3_factors* f = p->factors;
  const uint32_t k = k_tile * p->depth;
  const bool a_lies = f->transpose_a, b_lies = f->transpose_b;
  if (f->pieces != NULL)
    load_pieces_of_a(wave, p, k_tile);
  else
    load(wave, p, k_tile_of_a(p, k_tile), f->a, f->lda, a_lies ? k : p->place.row, a_lies ? p->place.row : k);
  load(wave, p, k_tile_of_b(p, k_tile), f->b, f->ldb, b_lies ? p->place.column : k, b_lies ? k : p->place.column);
}

static void multiply_k_tile(struct t3_wave* wave, const struct t3_tile_product* p, uint32_t k_tile) {
  const struct t3_factors* f = p->factors;
  t3_multiply(wave, (struct t3_product){.sum = t3_product_sums(p->place),
                                        .a = k_tile_of_a(p, k_tile),
                                        .b = k_tile_of_b(p, k_tile),
                                        .m = f->tile_rows,
                                        .n = f->tile_columns,
                                        .k = depth_of(p, k_tile),
                                        .transpose_a = f->transpose_a,
                                        .transpose_b = f->transpose_b,
                                        .adds = k_tile != 0,
                                        .step_ns = f->step_ns});
}

struct t3_tile_product t3_first_product(const struct t3_wave* wave, const struct t3_factors* factors,
                                        struct t3_rectangle place) {
  struct t3_tile_product p = {.factors = factors, .place = place, .depth = wave->device->slab_depth};
  p.k_tiles = t3_divide_up(factors->k, p.depth);
  p.ahead = t3_smaller(p.k_tiles, factors->stages == 0 ? wave->device->prefetch_slabs : factors->stages);
  return p;
}

struct t3_tile_product t3_next_product(const struct t3_tile_product* product, const struct t3_factors* factors,
                                       struct t3_rectangle place) {
  struct t3_tile_product p = *product;
  p.factors = factors;
  p.place = place;
  p.before += p.k_tiles;
  return p;
}

void t3_load_first(struct t3_wave* wave, const struct t3_tile_product* product) {
  for (uint32_t k_tile = 0; k_tile < product->ahead; ++k_tile) load_k_tile(wave, product, k_tile);
}

void t3_multiply_loaded(struct t3_wave* wave, const struct t3_tile_product* product,
                        const struct t3_tile_product* next) {
  for (uint32_t k_tile = 0; k_tile < product->k_tiles; ++k_tile) {
    const uint32_t further = k_tile + product->ahead;
    multiply_k_tile(wave, product, k_tile);
    if (further < product->k_tiles)
      load_k_tile(wave, product, further);
    else if (next != NULL)
      load_k_tile(wave, next, further - product->k_tiles);
  }
}

void t3_multiply_tile(struct t3_wave* wave, const struct t3_factors* factors, struct t3_rectangle place) {
  const struct t3_tile_product product = t3_first_product(wave, factors, place);
  t3_load_first(wave, &product);
  t3_multiply_loaded(wave, &product, NULL);
}

void t3_plan_tiles(struct t3_plan* plan, const struct t3_device* device, uint32_t tile_rows, uint32_t tile_columns) {
  const uint32_t elements = tile_rows * tile_columns, times = device->tile_rows * device->tile_columns / elements;
  const uint32_t resident = device->workgroups_per_cu * (times == 0 ? 1 : times);
  const uint32_t share = device->register_bytes / resident, sums = elements * (uint32_t)sizeof(float);
  plan->workgroups_per_cu = resident;
  plan->register_bytes = share > sums ? share : sums;
  plan->waves = 1;
  plan->tiles = t3_product_tiles(device);
}

bool t3_check_pipeline(struct t3_check* check, uint32_t stages, uint32_t store_bytes) {
  const uint32_t most = check->device->prefetch_slabs;
  if (stages > most)
    return t3_refuse(check, T3_BAD_PACKET, "stages %u: 0 to %u, the device's prefetch_slabs, expected", stages, most);
  if (store_bytes > T3_SECTOR_BYTES)
    return t3_refuse(check, T3_BAD_PACKET, "store_bytes %u: 0 to %d expected", store_bytes, T3_SECTOR_BYTES);
  return true;
}
