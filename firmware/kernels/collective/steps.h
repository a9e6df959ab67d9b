/* What a GPU does in each step of a collective operation: what it awaits, moves and tells others. */
#ifndef T3_KERNELS_STEPS_H
#define T3_KERNELS_STEPS_H

#include "t3/arguments/collective.h"
#include "t3/collective.h"

#ifdef __cplusplus
extern "C" {
#endif

struct t3_steps {
  const struct t3_collective_arguments* arguments;
  struct t3_collective collective;
  struct t3_ring ring; /* what a ring's GPUs are, the ring of all too */
  bool other_way;      /* round that ring */
  uint32_t pieces;     /* of a ring's broadcast, handed on one after the other */
  uint32_t count;
};

/* All but this; of its node; of its place in other nodes, in the second counters; or all by the switch, this GPU
 * included; or all but this in the second counters. */
enum t3_told {
  T3_TELLS_NOBODY,
  T3_TELLS_PREVIOUS,
  T3_TELLS_ALL,
  T3_TELLS_NODE,
  T3_TELLS_OTHER_NODES,
  T3_TELLS_BY_SWITCH,
  T3_TELLS_ALL_AGAIN
};

struct t3_step {
  uint64_t awaited;   /* signals since the kernel's begin, before anything is moved */
  uint32_t transfers; /* in any order */
  enum t3_told tells; /* when all of it has been moved */
  bool awaits_second; /* in the second counters */
};

/* Elements at `source`, to which others here are added, go to one GPU or to all but this. */
struct t3_transfer {
  uint64_t elements;
  uint64_t source;
  bool sums;                      /* the source is the sum of what all GPUs have there, by the switch */
  uint64_t addend, addend_stride; /* the first one's address; bytes to the next */
  uint32_t addends;
  uint64_t target; /* this GPU's address of what is written on the others */
  bool to_all;
  bool by_switch; /* to all by the switch, this GPU included */
  uint32_t to;
};

/* Of a workgroup. `piece_bytes`: what is worth handing on by itself. */
struct t3_steps t3_steps_of(const struct t3_collective_arguments* arguments, uint32_t workgroup, uint64_t piece_bytes);
struct t3_step t3_step_of(const struct t3_steps* steps, uint32_t step);
struct t3_transfer t3_transfer_of(const struct t3_steps* steps, uint32_t step, uint32_t index);

/* The number, from 1 on, of another GPU as this one counts them: by rows, each row and all of them beginning with its
 * own place, or round all numbers. */
uint32_t t3_other_gpu(const struct t3_collective_arguments* arguments, uint32_t number);

/* The GPU that a ring's sends to. */
uint32_t t3_previous_gpu(const struct t3_steps* steps);

/* Of the hierarchical algorithm (hierarchical_steps.c). */
struct t3_step t3_hierarchical_step(const struct t3_steps* steps, uint32_t step);
struct t3_transfer t3_hierarchical_transfer(const struct t3_steps* steps, uint32_t step, uint32_t index);

#ifdef __cplusplus
}
#endif

#endif
