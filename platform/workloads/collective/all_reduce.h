/* All-reduces of a program, one after the other, beside other things that it does: by the rings of a torus, or directly
 * where the GPUs are in none. */
#ifndef T3_PROGRAMS_ALL_REDUCE_H
#define T3_PROGRAMS_ALL_REDUCE_H

#include "workloads/collective/torus_rings.h"

enum { T3_DIRECT_COUNTERS = 2 }; /* of each workgroup of a direct all-reduce */

struct t3_all_reduce {
  enum t3_element element;
  struct t3_torus_rings rings;         /* dimensions none: direct, with first_counter and staging as here */
  uint64_t epochs[T3_DIRECT_COUNTERS]; /* direct: what they all have counted so far */
};

/* Returns the number of counters of each workgroup, from rings.first_counter on. */
uint32_t t3_all_reduce_counters(const uint32_t* dimensions);
/* For buffers of up to so many elements. What the caller says of it is the element, dimensions and the first counter.
 * Before the GPUs have met. */
enum t3_status t3_prepare_all_reduce(struct t3_context* gpu, uint64_t elements, struct t3_all_reduce* r);
/* All GPUs queue the same in the same order. */
enum t3_status t3_queue_all_reduce(struct t3_context* gpu, struct t3_all_reduce* r, uint64_t address,
                                   uint64_t elements);

#endif
