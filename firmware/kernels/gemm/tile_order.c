#include "tile_order.h"

static uint32_t round_robin(const struct t3_tile_order* order, const struct t3_grid* grid, uint32_t place) {
  const uint32_t tiles = t3_tiles_of(grid), chunks = order->chunks, each = tiles / chunks;
  const uint32_t first = (uint32_t)((((uint64_t)order->first + 1) * chunks - 1) / tiles);
  if (place < each * chunks) return t3_chunk_begin(grid, (first + place % chunks) % chunks, chunks) + place / chunks;
  uint32_t larger = place - each * chunks, chunk = first;
  for (;; chunk = (chunk + 1) % chunks) {
    const uint32_t size = t3_chunk_begin(grid, (uint64_t)chunk + 1, chunks) - t3_chunk_begin(grid, chunk, chunks);
    if (size > each && larger-- == 0) return t3_chunk_begin(grid, chunk, chunks) + each;
  }
}

/* Groups are of lines of tiles: of rows, or of columns. The last one may have fewer lines. */
static uint32_t grouped(const struct t3_tile_order* order, const struct t3_grid* grid, uint32_t number) {
  const uint32_t across = t3_tiles_across(grid), down = t3_tiles_of(grid) / across;
  const uint32_t lines = order->of_columns ? across : down, length = order->of_columns ? down : across;
  const uint32_t first = (uint32_t)(number / ((uint64_t)order->group * length)) * order->group;
  const uint32_t inside = number - first * length, width = t3_smaller(order->group, lines - first);
  const uint32_t line = first + inside % width, place = inside / width;
  return order->of_columns ? place * across + line : line * across + place;
}

uint32_t t3_tile_in_order(const struct t3_tile_order* order, const struct t3_grid* grid, uint32_t place) {
  if (order->chunks > 1) return round_robin(order, grid, place);
  const uint32_t number = (uint32_t)(((uint64_t)order->first + place) % t3_tiles_of(grid));
  return order->group > 1 ? grouped(order, grid, number) : number;
}
