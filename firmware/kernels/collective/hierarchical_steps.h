/* Steps of operations by nodes. N GPUs in M nodes of K: GPU m K + p has place p in node m. What goes to other nodes
 * goes between GPUs of one place, and each node sends another one every element once. */
#ifndef T3_KERNELS_HIERARCHICAL_STEPS_H
#define T3_KERNELS_HIERARCHICAL_STEPS_H

#include "kernels/collective/steps.h"

#ifdef __cplusplus
extern "C" {
#endif

struct t3_node_place {
  uint32_t node, place;
};

static inline uint32_t t3_per_node(const struct t3_steps* s) { return s->collective.gpus_per_node; }
static inline uint32_t t3_nodes_of(const struct t3_steps* s) { return t3_gpus_of(s) / t3_per_node(s); }
/* GPUs of a node but one. */
static inline uint32_t t3_others_of(const struct t3_steps* s) { return t3_per_node(s) - 1; }
static inline struct t3_node_place t3_own_place(const struct t3_steps* s) {
  const uint32_t gpu = t3_own_gpu(s);
  const struct t3_node_place own = {gpu / t3_per_node(s), gpu % t3_per_node(s)};
  return own;
}
static inline uint32_t t3_gpu_at(const struct t3_steps* s, struct t3_node_place at) {
  return at.node * t3_per_node(s) + at.place;
}

/* So many nodes or places further on, up to a round. */
static inline uint32_t t3_node_behind(const struct t3_steps* s, uint32_t node, uint32_t distance) {
  return (node + distance) % t3_nodes_of(s);
}
static inline uint32_t t3_place_behind(const struct t3_steps* s, uint32_t place, uint32_t distance) {
  return (place + distance) % t3_per_node(s);
}

/* The address of slot `number` of the receiver's staging buffer, for a part of this chunk. */
uint64_t t3_node_slot(const struct t3_steps* steps, uint32_t number, uint32_t chunk);

/* Three steps: inside the node, then to the same place of other nodes, or the other way round; the last one waits. The
 * array has how many transfers each makes. */
struct t3_step t3_hierarchical_step(const struct t3_steps* steps, uint32_t step, const uint32_t* transfers,
                                    bool other_nodes_first);

#ifdef __cplusplus
}
#endif

#endif
