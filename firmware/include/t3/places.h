/* The order in which a GPU sends to the others. Each GPU starts with its successor in local rank, so that no GPU is
 * sent to by all at once.
 *
 * Without rows the local ranks are the GPUs' numbers. In a torus GPU g has local rank g mod gpus_per_row in row g /
 * gpus_per_row. The order then alternates between ranks ahead and ranks behind, so that links in both directions are
 * busy. */
#ifndef T3_PLACES_H
#define T3_PLACES_H

#include <stdint.h>

struct t3_places {
  uint32_t gpu, gpus;
  uint32_t gpus_per_row; /* 0: there are no rows; else it divides gpus */
};

/* Returns the distance from this GPU to the one of this number, 1 to gpus - 1. With rows it is counted by columns and
 * rows. */
static inline uint32_t t3_distance_of(const struct t3_places* p, uint32_t number) {
  if (p->gpus_per_row == 0) return number;
  return number % 2 == 1 ? (number + 1) / 2 : p->gpus - number / 2;
}

/* The GPU that is so far behind another one. */
static inline uint32_t t3_far_behind(const struct t3_places* p, uint32_t gpu, uint32_t distance) {
  const uint32_t row = p->gpus_per_row;
  if (row == 0) return (gpu + distance) % p->gpus;
  const uint32_t rows = p->gpus / row;
  return (gpu % row + distance % row) % row + (gpu / row + distance / row) % rows * row;
}

/* Returns the distance back: from the GPU at `distance` to this one. */
static inline uint32_t t3_distance_back(const struct t3_places* p, uint32_t distance) {
  const uint32_t row = p->gpus_per_row;
  if (row == 0) return p->gpus - distance;
  const uint32_t rows = p->gpus / row;
  return (row - distance % row) % row + (rows - distance / row) % rows * row;
}

/* The other GPUs by their numbers 1 to gpus - 1, in the order in which this one sends to them. */
static inline uint32_t t3_other_of(const struct t3_places* p, uint32_t number) {
  return t3_far_behind(p, p->gpu, t3_distance_of(p, number));
}

#endif
