/* The steps of a collective operation on a GPU: the signals that a step waits for, its transfers and the signals that
 * it sends.
 *
 * The steps of an operation are in its folder, platform/workloads/collective/operations/<name>/<name>_steps.c, which
 * defines t3_<name>_operation. What several operations share is here and in ring_steps.h and hierarchical_steps.h. */
#ifndef T3_KERNELS_STEPS_H
#define T3_KERNELS_STEPS_H

#include "t3/arguments/collective.h"
#include "t3/collective.h"
#include "t3/collective_staging.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A kernel signals a workgroup at most this often. */
enum { T3_COLLECTIVE_PIECES_MAX = 1024 };

struct t3_operation;
struct t3_schedule;

/* The cost of cutting a transfer into pieces, each of which is forwarded separately. */
struct t3_handing_on {
  uint64_t block_bytes; /* the least that is worth it */
  uint64_t bytes;       /* that a link carries in the time that each takes more */
};
/* For those who do not ask for the number of steps. */
static const struct t3_handing_on t3_any_pieces = {1, 1};

struct t3_steps {
  const struct t3_collective_arguments* arguments;
  const struct t3_operation* operation;
  const struct t3_schedule* schedule; /* by the arguments' algorithm; NULL: there is none */
  struct t3_collective collective;
  struct t3_ring ring; /* what a ring's GPUs are, the ring of all too */
  bool other_way;      /* round that ring */
  struct t3_handing_on handing_on;
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

/* Elements at `source`, to which others here are added, go to one GPU or to all but this. Of a GEMM's output they are
 * so many tiles from `first_tile` on, and the addresses are those of the whole output. */
struct t3_transfer {
  uint64_t elements;
  uint32_t first_tile;
  uint64_t source;
  bool sums;                      /* the source is the sum of what all GPUs have there, by the switch */
  uint64_t addend, addend_stride; /* the first one's address; bytes to the next */
  uint32_t addends;
  uint64_t target; /* this GPU's address of what is written on the others */
  bool to_all;
  bool by_switch; /* to all by the switch, this GPU included */
  uint32_t to;
};

/* The steps by one algorithm. `transfer` gives transfer `index` of those that `step` counts. */
struct t3_schedule {
  uint32_t (*count)(const struct t3_steps* steps);
  struct t3_step (*step)(const struct t3_steps* steps, uint32_t step);
  struct t3_transfer (*transfer)(const struct t3_steps* steps, uint32_t step, uint32_t index);
};

/* An operation has a schedule for each algorithm of its description by which it is one kernel. Direct needs none where
 * `send` is there: then every GPU makes its sends, waits until all others have made theirs, and makes its sums. What a
 * send reads, no other GPU's send may write. */
struct t3_operation {
  uint32_t (*sends)(const struct t3_steps* steps);
  struct t3_transfer (*send)(const struct t3_steps* steps, uint32_t index);
  struct t3_transfer (*sum)(const struct t3_steps* steps); /* the one sum; NULL: there is none */
  bool only_sends;                                         /* nothing is written on this GPU, but by the switch */
  struct t3_schedule schedules[T3_IN_NETWORK + 1];
};

extern const struct t3_operation* const t3_operations[];

/* Returns the steps of a workgroup. `op` and `algorithm` are less than T3_COLLECTIVE_OPS and T3_TORUS_RINGS. */
struct t3_steps t3_steps_of(const struct t3_collective_arguments* arguments, uint32_t workgroup,
                            struct t3_handing_on handing_on);

static inline uint32_t t3_gpus_of(const struct t3_steps* s) { return s->arguments->gpus; }
static inline uint32_t t3_own_gpu(const struct t3_steps* s) { return s->arguments->gpu; }
static inline uint64_t t3_bytes_of_elements(const struct t3_steps* s, uint64_t elements) {
  return elements * t3_element_bytes(s->collective.element);
}
static inline uint64_t t3_chunk_size(const struct t3_steps* s, uint32_t chunk) {
  return t3_flat_chunk_size(s->collective.elements, chunk, t3_gpus_of(s));
}
/* Bytes from a buffer's start. */
static inline uint64_t t3_chunk_offset(const struct t3_steps* s, uint32_t chunk) {
  return t3_bytes_of_elements(s, t3_flat_chunk_begin(s->collective.elements, chunk, t3_gpus_of(s)));
}

/* The number, from 1 on, of another GPU as this one counts them: by rows, each row and all of them beginning with its
 * own place, or round all numbers. Sends to all others go in this order. */
uint32_t t3_other_gpu(const struct t3_collective_arguments* arguments, uint32_t number);

/* Transfers from the buffer to the same place of another GPU's, or of all: of `elements` from `offset` bytes on, of a
 * whole buffer, or of the chunk that a GPU owns. The caller says to whom. */
struct t3_transfer t3_copy_of(const struct t3_steps* steps, uint64_t offset, uint64_t elements);
struct t3_transfer t3_copy_of_buffer(const struct t3_steps* steps);
struct t3_transfer t3_copy_of_chunk(const struct t3_steps* steps, uint32_t gpu);
/* The GPUs from `first` on, so many, own successive chunks, which this copies. */
struct t3_transfer t3_copy_of_chunks(const struct t3_steps* steps, uint32_t first, uint32_t count);
/* The part of GPU `from`'s other buffer that is for GPU `to`, to where it is received (T3_RESULT_PARTS). */
struct t3_transfer t3_part_of(const struct t3_steps* steps, uint32_t from, uint32_t to);

/* Direct sums: what goes to another GPU's slot, and the sum of this GPU's chunk with what has come. */
struct t3_transfer t3_addend_for(const struct t3_steps* steps, uint32_t number);
struct t3_transfer t3_sum_of_chunk(const struct t3_steps* steps);

/* The largest number, up to `most`, whose square is at most this. */
uint32_t t3_square_root(uint64_t square, uint32_t most);

/* Numbers of steps, for a schedule. */
uint32_t t3_two_steps(const struct t3_steps* steps);
uint32_t t3_three_steps(const struct t3_steps* steps);

/* Returns a step of an in-network operation. Step 0 moves this GPU's chunk: it loads from all GPUs as a sum or from
 * here, and stores to all or here. It then signals all GPUs, itself too, and step 1 waits for the signals of all. */
struct t3_step t3_step_in_network(const struct t3_steps* steps, uint32_t step);

#ifdef __cplusplus
}
#endif

#endif
