/* Sums over all GPUs of a torus by the rings of its dimensions, a kernel for each: the reduce-scatter goes from the
 * last dimension to the first, the all-gather back. They are queued on the context's current queue, which runs them one
 * after the other, and nothing is waited for. */
#ifndef T3_PROGRAMS_TORUS_RINGS_H
#define T3_PROGRAMS_TORUS_RINGS_H

#include "t3/t3.h"
#include "workloads/collective/collective_buffer.h"

/* The counters of dimension d are those from first_counter + d * ring_workgroups on. Both kernels of a dimension count
 * in them, and those of one all-reduce after the other, since a workgroup hears of one GPU alone there, the next in its
 * way round the ring, whose kernels come in the same order. */
struct t3_torus_rings {
  uint32_t dimensions[T3_TORUS_DIMENSIONS_MAX]; /* as struct t3_collective has them */
  uint32_t first_counter;
  uint64_t epochs[T3_TORUS_DIMENSIONS_MAX]; /* of each dimension's counters when all that is queued has run */
  /* t3_staging_bytes of a torus-rings all-reduce of the largest buffer, at the same address on all GPUs; 0: no sums. */
  uint64_t staging;
};

/* Returns the number of dimensions, which is also the number of counters of each workgroup. */
uint32_t t3_torus_dimensions(const uint32_t* dimensions);
/* While no GPU can have signalled yet, that is before a barrier: what the counters count so far. */
enum t3_status t3_read_torus_epochs(const struct t3_context* gpu, struct t3_torus_rings* rings);

/* On all GPUs in the same order, any number of times. Each leaves epochs[d] larger by dimensions[d] - 1. After an
 * all-reduce, that is a reduce-scatter and an all-gather of the same buffer, the next one of any buffer may follow at
 * once in the same queue, and the buffer is this GPU's again when its own kernels have ended; a reduce-scatter may not
 * follow another one before all GPUs have ended that. */
enum t3_status t3_torus_reduce_scatter(struct t3_context* gpu, struct t3_torus_rings* rings,
                                       const struct t3_collective_buffer* buffer);
enum t3_status t3_torus_all_gather(struct t3_context* gpu, struct t3_torus_rings* rings,
                                   const struct t3_collective_buffer* buffer);
enum t3_status t3_torus_all_reduce(struct t3_context* gpu, struct t3_torus_rings* rings,
                                   const struct t3_collective_buffer* buffer);

#endif
