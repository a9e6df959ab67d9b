// The program of the GPUs under test.
#pragma once

#include "t3/run.h"
#include "t3_hal.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A small GEMM, a ring all-gather of its output, and a flush of the cache. What cannot be is refused by the driver. */
enum t3_status gpu_work(const struct t3_hal* hal, const struct t3_run* run);

#ifdef __cplusplus
}
#endif
