/* The counters of a symmetric heap's collectives, which lie directly before the heap (t3/shmem.h, option
 * `collectives`). Driver and device code share this layout: first a sink of 32 bytes for results that nobody reads,
 * then for each context its rounds of t3_shmem_barrier_all and, from each GPU, the latest round in which that GPU has
 * arrived. */
#ifndef T3_SHMEM_SYNC_H
#define T3_SHMEM_SYNC_H

#include <stdint.h>

enum { T3_SHMEM_SYNC_ALIGNMENT = 256, T3_SHMEM_SINK_BYTES = 32, T3_SHMEM_ROUND_BYTES = 8 };

/* Offset of a context's rounds. The rounds of GPU g are g + 1 rounds further. */
static inline uint64_t t3_shmem_rounds_offset(uint32_t context, uint32_t gpus) {
  return T3_SHMEM_SINK_BYTES + (uint64_t)context * (1 + gpus) * T3_SHMEM_ROUND_BYTES;
}

/* Size of all counters, a multiple of T3_SHMEM_SYNC_ALIGNMENT: the heap begins behind them. */
static inline uint64_t t3_shmem_sync_bytes(uint32_t contexts, uint32_t gpus) {
  const uint64_t bytes = t3_shmem_rounds_offset(contexts, gpus);
  return (bytes + T3_SHMEM_SYNC_ALIGNMENT - 1) / T3_SHMEM_SYNC_ALIGNMENT * T3_SHMEM_SYNC_ALIGNMENT;
}

#endif
