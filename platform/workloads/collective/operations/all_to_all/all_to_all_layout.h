/* The staging layout of an all-to-all for parts that are forwarded. */
#ifndef T3_OPERATIONS_ALL_TO_ALL_H
#define T3_OPERATIONS_ALL_TO_ALL_H

#include "t3/collective.h"

/* A ring has a slot of the whole buffer for each number of hops that parts have behind them. */
static inline uint64_t t3_all_to_all_ring_slot(const struct t3_collective* c) {
  return t3_padded(c->elements * t3_element_bytes(c->element));
}

static inline uint64_t t3_all_to_all_staging_bytes(const struct t3_collective* c, uint32_t gpus) {
  if (c->algorithm == T3_RING) return (gpus - 2) * t3_all_to_all_ring_slot(c);
  if (c->algorithm != T3_HIERARCHICAL) return 0;
  const uint64_t others = c->gpus_per_node - 1, nodes = gpus / c->gpus_per_node;
  return (nodes - 1) * others * t3_staging_slot(c, gpus);
}

#endif
