#ifndef T3_KERNELS_GEMM_H
#define T3_KERNELS_GEMM_H

#include "t3/device.h"

extern const struct t3_kernel t3_gemm_kernel;

#endif
