#ifndef T3_KERNELS_ROWS_H
#define T3_KERNELS_ROWS_H

#include "t3/device.h"

extern const struct t3_kernel t3_rows_kernel;

#endif
