/* The times of the node's CPU between kernels and NICs (GPU-initiated overlap, Figure 3). */
#ifndef T3_WORKLOADS_HOST_TIMES_H
#define T3_WORKLOADS_HOST_TIMES_H

#include <stdint.h>

struct t3_host_times {
  uint64_t kernel_end_ns; /* from a kernel's end until it knows */
  uint64_t post_ns;       /* of each message */
  uint64_t launch_ns;     /* of the kernel behind them */
};

#endif
