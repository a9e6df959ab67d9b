/* The operation that the workload is, as kernels and their helpers have it (t3/collective.h). */
#ifndef T3_WORKLOADS_COLLECTIVE_LAYOUT_H
#define T3_WORKLOADS_COLLECTIVE_LAYOUT_H

#include "t3/collective.h"
#include "t3/workloads/collective.h"

static inline struct t3_collective t3_collective_of_workload(const struct t3_collective_workload* w) {
  const struct t3_ring all = {0, 0};
  const struct t3_gathered_output flat = {{0, 0, 0, 0, 0, 0, w->element}, 0};
  const struct t3_collective c = {w->op,
                                  w->algorithm,
                                  w->element,
                                  w->elements,
                                  w->gpus_per_node,
                                  w->gpus_per_row,
                                  all,
                                  {w->dimensions[0], w->dimensions[1], w->dimensions[2]},
                                  flat};
  return c;
}

#endif
