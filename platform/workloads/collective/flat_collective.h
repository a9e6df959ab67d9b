/* The kernels of a collective operation on a flat buffer, or an all-gather of a GEMM's output, for programs that run
 * one or two behind each other. */
#ifndef T3_WORKLOADS_FLAT_COLLECTIVE_H
#define T3_WORKLOADS_FLAT_COLLECTIVE_H

#include "t3/collective_staging.h"
#include "workloads/collective/torus_rings.h"

enum { T3_FLAT_KERNELS = 2, T3_FLAT_ROUNDS = 2 };

struct t3_flat_collective {
  struct t3_collective collective;                  /* of an operation of two parts these may be queued */
  uint64_t out, in, staging;                        /* 0: there is none */
  uint64_t epochs[T3_FLAT_KERNELS][T3_FLAT_ROUNDS]; /* of each kernel's counters, for its own node and for others */
  struct t3_torus_rings rings;
};

/* Makes the ring workgroups as few as there are counters for, and for so many more of each workgroup. Before any ring
 * kernel. */
enum t3_status t3_fit_flat_counters(struct t3_context* gpu, const struct t3_collective* collective, uint32_t others);
/* Allocates the staging buffer and reads the counters. Before the GPUs have met. */
enum t3_status t3_prepare_flat(struct t3_context* gpu, struct t3_flat_collective* flat);
/* Reads the counters once more, before another operation of the same kernels. None of its signals may be there yet. Not
 * for torus-rings. */
enum t3_status t3_read_flat_epochs(const struct t3_context* gpu, struct t3_flat_collective* flat);
/* Queues the operation or a part of it as kernel 0 or 1. Each of them is queued once. */
enum t3_status t3_queue_flat(struct t3_context* gpu, struct t3_flat_collective* flat, enum t3_collective_op op,
                             uint32_t kernel);

#endif
