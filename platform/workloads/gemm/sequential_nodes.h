/* GEMM, then a reduce-scatter of nodes that NICs join: a ring kernel inside each node, then the hosts post what each
 * GPU has summed for its same-rank peers in other nodes. */
#ifndef T3_SEQUENTIAL_NODES_H
#define T3_SEQUENTIAL_NODES_H

#include "t3/workloads/gemm.h"

enum t3_status t3_sequential_of_nodes(const struct t3_hal* hal, const struct t3_run* run,
                                      const struct t3_gemm_workload* w);

#endif
