/* In which order a GPU sends to the others: each begins with what is next to its own place, so that all do the same
 * from their places and no GPU is sent to by all at once.
 *
 * Without rows places are numbers. In a torus, whose GPU g has place g mod gpus_per_row in row g / gpus_per_row, those
 * in front alternate with those behind, so that links in both directions always have something to carry. */
#ifndef T3_PLACES_H
#define T3_PLACES_H

#include <stdint.h>

struct t3_places {
  uint32_t gpu, gpus;
  uint32_t gpus_per_row; /* 0: there are no rows; else it divides gpus */
};

/* How far behind this GPU the other one of this number is, 1 to gpus - 1, by columns and rows where there are rows. */
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

/* How far behind that GPU this one is. */
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
