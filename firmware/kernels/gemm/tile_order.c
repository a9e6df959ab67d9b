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

/* The last group may have fewer rows. */
static uint32_t grouped(uint32_t group, const struct t3_grid* grid, uint32_t number) {
  const uint32_t across = t3_tiles_across(grid), rows = t3_tiles_of(grid) / across;
  const uint32_t first = (uint32_t)(number / ((uint64_t)group * across)) * group;
  const uint32_t inside = number - first * across, height = t3_smaller(group, rows - first);
  return (first + inside % height) * across + inside / height;
}

uint32_t t3_tile_in_order(const struct t3_tile_order* order, const struct t3_grid* grid, uint32_t place) {
  if (order->chunks > 1) return round_robin(order, grid, place);
  const uint32_t number = (uint32_t)(((uint64_t)order->first + place) % t3_tiles_of(grid));
  return order->group > 1 ? grouped(order->group, grid, number) : number;
}
