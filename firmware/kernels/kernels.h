/* All kernels that the platform comes with. */
#ifndef T3_KERNELS_H
#define T3_KERNELS_H

#include "t3/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Ends with NULL. */
extern const struct t3_kernel* const t3_kernels[];

#ifdef __cplusplus
}
#endif

#endif
