#ifndef T3_KERNELS_ATTENTION_H
#define T3_KERNELS_ATTENTION_H

#include "t3/device.h"

extern const struct t3_kernel t3_attention_kernel;

#endif
