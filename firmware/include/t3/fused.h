/* The collectives that are fused with a GEMM. The output on each GPU is cut into a chunk of workgroups for each GPU:
 * GPU g owns chunk g (T3 sections 4 and 7.1). */
#ifndef T3_FUSED_H
#define T3_FUSED_H

#include <stdint.h>

#include "t3/enumeration.h"

enum t3_fused_kind T3_OF_32_BITS {
  T3_FUSED_RING_REDUCE_SCATTER,   /* sums that go from GPU to GPU, each of which adds its own; then an all-gather */
  T3_FUSED_DIRECT_REDUCE_SCATTER, /* every GPU stores straight into the owner's sum; then an all-gather */
  T3_FUSED_ALL_REDUCE,            /* the same, and the owner sends each tile of the sum to all as it completes */
  T3_FUSED_ALL_TO_ALL,            /* nothing is summed: GPU g's chunk c goes to GPU c, into its slab for g */
  /* GPUs of several nodes: those of a node store into the sum of one of them, which sends each tile of it to the owner
   * in another node; then an all-gather, where links join the nodes */
  T3_FUSED_HIERARCHICAL_REDUCE_SCATTER,
  /* An all-reduce by a switch that copies, and may merge: owners send each tile once, to all GPUs' address. All GPUs
   * compute tiles in the same order. */
  T3_FUSED_SWITCH_ALL_REDUCE
};

/* The chunk that a GPU owns: that of its number. Of the hierarchical kind GPU p of node n owns chunk p * nodes + n, so
 * that what GPU p of each node sums for all nodes is one run of chunks. */
static inline uint32_t t3_fused_chunk(enum t3_fused_kind kind, uint32_t gpu, uint32_t gpus, uint32_t gpus_per_node) {
  if (kind != T3_FUSED_HIERARCHICAL_REDUCE_SCATTER) return gpu;
  return gpu % gpus_per_node * (gpus / gpus_per_node) + gpu / gpus_per_node;
}

/* Accesses that each element of a GPU's own chunk has there before it is complete. */
static inline uint32_t t3_fused_updates(enum t3_fused_kind kind, uint32_t gpus, uint32_t gpus_per_node) {
  if (kind == T3_FUSED_HIERARCHICAL_REDUCE_SCATTER) /* its node's, and a sum from each other node */
    return gpus_per_node + gpus / gpus_per_node - 1;
  if (kind == T3_FUSED_RING_REDUCE_SCATTER) return 2; /* this GPU's and that of the GPU before it, with all others' */
  return kind == T3_FUSED_ALL_TO_ALL ? 1 : gpus;
}

/* Of those accesses, the ones that the GEMMs of GPUs make themselves. With split-K each of them is made by so many
 * workgroups. */
static inline uint32_t t3_fused_products(enum t3_fused_kind kind, uint32_t gpus, uint32_t gpus_per_node) {
  if (kind == T3_FUSED_HIERARCHICAL_REDUCE_SCATTER) return gpus_per_node;
  return kind == T3_FUSED_RING_REDUCE_SCATTER || kind == T3_FUSED_ALL_TO_ALL ? 1 : gpus;
}

/* Matrices of the output's shape that a GPU receives in, one behind the other: of an all-to-all one from each GPU. */
static inline uint32_t t3_fused_slabs(enum t3_fused_kind kind, uint32_t gpus) {
  return kind == T3_FUSED_ALL_TO_ALL ? gpus : 1;
}

#endif
