/* A collective operation on flat buffers, one on each GPU: what kernels, programs and the platform agree on.
 *
 * A buffer is cut into one chunk for each GPU; they differ by at most one element, earlier ones are larger. An
 * all-gather also takes a GEMM's output, whose chunks are runs of tiles (t3/grid.h). GPU g owns chunk g. GPU 0 is the
 * root of an operation that has one. The operations are those of t3/collective_op.h. */
#ifndef T3_COLLECTIVE_H
#define T3_COLLECTIVE_H

#include "t3/collective_op.h"
#include "t3/element_bytes.h"
#include "t3/fused.h"
#include "t3/grid.h"

enum { T3_TORUS_DIMENSIONS_MAX = 3 };

/* The ring of GPU g has `length` GPUs whose numbers are `stride` apart, and g the place g / stride % length. Each of
 * them owns the flat chunks of the `stride` GPUs whose numbers, rounded down to a multiple of it, are its own. */
struct t3_ring {
  uint32_t stride, length; /* 0 of both: all GPUs, each with its own chunk */
};

/* A GEMM's output that is gathered. Chunks are runs of tiles. */
struct t3_gathered_output {
  struct t3_grid grid; /* no rows: there is none, the buffer is flat */
  uint32_t nodes;      /* GPU p of node n of so many owns chunk p * nodes + n (t3/fused.h); 0: GPU g owns chunk g */
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
  struct t3_gathered_output output;             /* of an all-gather, which has no `elements` then */
};

static inline bool t3_reduces(const struct t3_collective* c) { return t3_traits_of(c->op)->adds; }

/* The operations that it is, one after the other, each a kernel: itself alone, or two. Returns how many. */
static inline uint32_t t3_collective_parts(const struct t3_collective* c, enum t3_collective_op* parts) {
  const struct t3_operation_traits* traits = t3_traits_of(c->op);
  parts[0] = c->op;
  if (traits->part_count == 0 || (traits->whole_by >> c->algorithm & 1) != 0) return 1;
  for (uint32_t i = 0; i < 2; ++i) parts[i] = traits->parts[i];
  return 2;
}

static inline bool t3_has_second_counters(const struct t3_collective* c) {
  return (t3_traits_of(c->op)->second_counters >> c->algorithm & 1) != 0;
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

static inline bool t3_is_output(const struct t3_collective* c) { return c->output.grid.rows != 0; }

/* Number of a chunk's first element, or of an output's first tile. The chunk ends where the next one begins. */
static inline uint64_t t3_first_of_chunk(const struct t3_collective* c, uint32_t chunk, uint32_t chunks) {
  return t3_is_output(c) ? t3_chunk_begin(&c->output.grid, chunk, chunks)
                         : t3_flat_chunk_begin(c->elements, chunk, chunks);
}

/* The chunk that a GPU owns. */
static inline uint32_t t3_owned_chunk(const struct t3_collective* c, uint32_t gpu, uint32_t gpus) {
  const uint32_t nodes = c->output.nodes;
  return nodes == 0 ? gpu : t3_fused_chunk(T3_FUSED_HIERARCHICAL_REDUCE_SCATTER, gpu, gpus, gpus / nodes);
}

/* Rounds up to a multiple of a DRAM access. */
static inline uint64_t t3_padded(uint64_t bytes) { return (bytes + 31) / 32 * 32; }

/* Bytes from what one GPU sends into a staging buffer to what the next one does. In each the elements are as far from
 * a DRAM access's start as in the buffer that they come from. */
static inline uint64_t t3_staging_slot(const struct t3_collective* c, uint32_t gpus) {
  return t3_padded(t3_flat_chunk_size(c->elements, 0, gpus) * t3_element_bytes(c->element)) + 32;
}

/* Returns the staging bytes for one step of one dimension's ring, in either direction, without the last step. A step
 * receives whole ranges of chunks, of which the first GPU's is the largest. */
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

/* Returns the staging bytes of the first `dimensions` dimensions. Each has a staging buffer of its own, one after the
 * other. A GPU that has finished the rings of one dimension sends to others that have not. */
static inline uint64_t t3_torus_staging_bytes(const struct t3_collective* c, uint32_t dimensions, uint32_t gpus) {
  uint64_t bytes = 0;
  for (uint32_t d = 0; d < dimensions && c->dimensions[d] != 0; ++d)
    bytes += t3_ring_staging_bytes(c, t3_ring_along(c, d), gpus);
  return bytes;
}

/* Returns the staging bytes of operations that add, for data that are not yet added. */
static inline uint64_t t3_sums_staging_bytes(const struct t3_collective* c, uint32_t gpus) {
  if (c->algorithm == T3_HIERARCHICAL) {
    const uint64_t others = c->gpus_per_node - 1, nodes = gpus / c->gpus_per_node;
    return (nodes - 1 + nodes * others) * t3_staging_slot(c, gpus);
  }
  if (c->algorithm == T3_TORUS_RINGS) return t3_torus_staging_bytes(c, T3_TORUS_DIMENSIONS_MAX, gpus);
  if (c->ring.length != 0) return t3_ring_staging_bytes(c, c->ring, gpus);
  if (c->algorithm == T3_RING) return t3_padded(c->elements * t3_element_bytes(c->element));
  return (gpus - 1) * t3_staging_slot(c, gpus);
}

/* Whether there is a buffer that it sends from beside the one that the result is in. */
static inline bool t3_receives_apart(const struct t3_collective* c) {
  return t3_traits_of(c->op)->result != T3_RESULT_IN_PLACE;
}

/* Returns the elements of the buffer that the result is in. */
static inline uint64_t t3_received_elements(const struct t3_collective* c, uint32_t gpu, uint32_t gpus) {
  if (t3_traits_of(c->op)->result != T3_RESULT_PARTS) return c->elements;
  return gpus * t3_flat_chunk_size(c->elements, gpu, gpus);
}

#endif
