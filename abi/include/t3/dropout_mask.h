/* Which elements dropout keeps: kernels and the near-memory unit keep the same ones. */
#ifndef T3_DROPOUT_MASK_H
#define T3_DROPOUT_MASK_H

#include <stdbool.h>
#include <stdint.h>

/* Whether an element is kept, of a matrix by row and column, with this probability. */
static inline bool t3_dropout_keeps(uint32_t seed, uint64_t row, uint64_t column, float probability) {
  /* The finalizer of MurmurHash3 over the element's place. */
  uint64_t hash = row << 32 ^ column ^ seed * UINT64_C(0x9E3779B97F4A7C15);
  hash = (hash ^ hash >> 33) * UINT64_C(0xFF51AFD7ED558CCD);
  hash = (hash ^ hash >> 33) * UINT64_C(0xC4CEB9FE1A85EC53);
  hash ^= hash >> 33;
  /* The upper 53 bits in two words, of which each is a double without a cast in C and C++. */
  const uint32_t high = (hash << 21 | hash >> 43) & 0x1FFFFF, low = (hash >> 11) & UINT32_MAX;
  const double share = (high * 0x1p32 + low) * 0x1p-53;
  return share < probability;
}

#endif
