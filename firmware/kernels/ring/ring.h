#ifndef T3_KERNELS_RING_H
#define T3_KERNELS_RING_H

#include "t3/device.h"

extern const struct t3_kernel t3_ring_reduce_scatter_kernel, t3_ring_all_gather_kernel;

#endif
