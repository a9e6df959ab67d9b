/* A collective operation on flat buffers, one on each GPU: what kernels, programs and the platform agree on.
 *
 * A buffer is cut into one chunk for each GPU; they differ by at most one element, earlier ones are larger. GPU g owns
 * chunk g. GPU 0 is the root of a broadcast. */
#ifndef T3_COLLECTIVE_H
#define T3_COLLECTIVE_H

#include <stdbool.h>

#include "t3/element_bytes.h"
#include "t3/enumeration.h"

enum t3_collective_op T3_OF_32_BITS {
  T3_REDUCE_SCATTER, /* chunk g of GPU g's buffer becomes the sum of all GPUs'; its other chunks stay as they are */
  T3_ALL_GATHER,     /* chunk g of all buffers becomes GPU g's */
  T3_ALL_TO_ALL,     /* GPU g receives chunk g of all buffers, one behind the other, in another buffer */
  T3_BROADCAST,      /* all buffers become the root's */
  T3_ALL_REDUCE      /* all buffers become the sum of all: a reduce-scatter, then an all-gather */
};

/* A ring's GPU sends to the previous one alone, which hands on what is not its own; direct, each sends to those that
 * want it. Hierarchical, GPUs of a node collect what is for other nodes, and those of the same place in all nodes
 * exchange it. In-switch, the switch adds and copies (t3/address.h's T3_ALL_GPUS). By a torus's rings, one dimension
 * after the other: a reduce-scatter from the last to the first, an all-gather back. */
enum t3_collective_algorithm T3_OF_32_BITS { T3_RING, T3_DIRECT, T3_HIERARCHICAL, T3_IN_SWITCH, T3_TORUS_RINGS };

enum { T3_TORUS_DIMENSIONS_MAX = 3 };

/* The ring of GPU g has `length` GPUs whose numbers are `stride` apart, and g the place g / stride % length. Each of
 * them owns the flat chunks of the `stride` GPUs whose numbers, rounded down to a multiple of it, are its own. */
struct t3_ring {
  uint32_t stride, length; /* 0 of both: all GPUs, each with its own chunk */
};

struct t3_collective {
  enum t3_collective_op op;
  enum t3_collective_algorithm algorithm;
  enum t3_element element;
  uint64_t elements;      /* of a GPU's buffer */
  uint32_t gpus_per_node; /* hierarchical: GPU g has place g mod this in node g / this; the others: 0 */
  uint32_t gpus_per_row;  /* direct: GPU g has place g mod this in row g / this of a torus; 0: there are no rows */
  struct t3_ring ring;    /* ring */
  uint32_t dimensions[T3_TORUS_DIMENSIONS_MAX]; /* torus-rings: GPUs along each, numbers count the first one first; 0
                                                   behind the last */
};

static inline bool t3_reduces(const struct t3_collective* c) {
  return c->op == T3_REDUCE_SCATTER || c->op == T3_ALL_REDUCE;
}

/* Blocks that a wave of the collective kernel adds at a time, each in a tile of its own. */
enum { T3_COLLECTIVE_ADDENDS = 4 };

/* Registers that a workgroup of the kernel takes with so many waves that move such blocks. */
static inline uint64_t t3_collective_registers(uint64_t block_bytes, uint64_t waves) {
  return (1 + T3_COLLECTIVE_ADDENDS) * block_bytes * waves;
}

static inline uint64_t t3_flat_chunk_begin(uint64_t elements, uint32_t chunk, uint32_t chunks) {
  const uint64_t rest = elements % chunks;
  return elements / chunks * chunk + (chunk < rest ? chunk : rest);
}

static inline uint64_t t3_flat_chunk_size(uint64_t elements, uint32_t chunk, uint32_t chunks) {
  return elements / chunks + (chunk < elements % chunks ? 1 : 0);
}

/* Up to the next DRAM access. */
static inline uint64_t t3_padded(uint64_t bytes) { return (bytes + 31) / 32 * 32; }

/* Bytes from what one GPU sends into a staging buffer to what the next one does. In each the elements are as far from
 * a DRAM access's start as in the buffer that they come from. */
static inline uint64_t t3_staging_slot(const struct t3_collective* c, uint32_t gpus) {
  const uint32_t element = t3_element_bytes(c->element);
  if (c->op == T3_ALL_TO_ALL && c->algorithm == T3_RING) return t3_padded(c->elements * element);
  return t3_padded(t3_flat_chunk_size(c->elements, 0, gpus) * element) + 32;
}

/* Of one dimension's ring, for what comes in each step but the last, either way round: whole ranges of chunks, of which
 * the first GPU's is the largest. */
static inline uint64_t t3_ring_slot(const struct t3_collective* c, struct t3_ring ring, uint32_t gpus) {
  return t3_padded(t3_flat_chunk_begin(c->elements, ring.stride, gpus) * t3_element_bytes(c->element)) + 32;
}

static inline uint64_t t3_ring_staging_bytes(const struct t3_collective* c, struct t3_ring ring, uint32_t gpus) {
  return 2 * UINT64_C(1) * (ring.length - 1) * t3_ring_slot(c, ring, gpus);
}

/* The rings of one dimension; 0 GPUs long when the torus has no such dimension. */
static inline struct t3_ring t3_ring_along(const struct t3_collective* c, uint32_t dimension) {
  struct t3_ring ring = {1, c->dimensions[dimension]};
  for (uint32_t before = 0; before < dimension; ++before) ring.stride *= c->dimensions[before];
  return ring;
}

/* Of the first so many dimensions. They have staging buffers of their own, one behind the other, since GPUs that are
 * through with the rings of one send to others that are not. */
static inline uint64_t t3_torus_staging_bytes(const struct t3_collective* c, uint32_t dimensions, uint32_t gpus) {
  uint64_t bytes = 0;
  for (uint32_t d = 0; d < dimensions && c->dimensions[d] != 0; ++d)
    bytes += t3_ring_staging_bytes(c, t3_ring_along(c, d), gpus);
  return bytes;
}

/* What a GPU needs beside its buffers to receive what is not its own or not yet added. */
static inline uint64_t t3_staging_bytes(const struct t3_collective* c, uint32_t gpus) {
  const bool reduces = t3_reduces(c);
  if (c->algorithm == T3_IN_SWITCH) return 0;
  if (c->algorithm == T3_HIERARCHICAL) {
    const uint64_t others = c->gpus_per_node - 1, nodes = gpus / c->gpus_per_node, slot = t3_staging_slot(c, gpus);
    if (reduces) return (nodes - 1 + nodes * others) * slot;
    return c->op == T3_ALL_TO_ALL ? (nodes - 1) * others * slot : 0;
  }
  if (c->algorithm == T3_TORUS_RINGS) return reduces ? t3_torus_staging_bytes(c, T3_TORUS_DIMENSIONS_MAX, gpus) : 0;
  if (reduces && c->ring.length != 0) return t3_ring_staging_bytes(c, c->ring, gpus);
  if (reduces && c->algorithm == T3_RING) return t3_padded(c->elements * t3_element_bytes(c->element));
  if (reduces) return (gpus - 1) * t3_staging_slot(c, gpus);
  if (c->op == T3_ALL_TO_ALL && c->algorithm == T3_RING) return (gpus - 2) * t3_staging_slot(c, gpus);
  return 0;
}

/* The buffer that the result is in: larger than the one that is sent only where they are two. */
static inline uint64_t t3_received_elements(const struct t3_collective* c, uint32_t gpu, uint32_t gpus) {
  return c->op == T3_ALL_TO_ALL ? gpus * t3_flat_chunk_size(c->elements, gpu, gpus) : c->elements;
}

#endif
