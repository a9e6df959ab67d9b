// The program of each GPU.
#pragma once

#include "t3/run.h"
#include "t3_hal.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Allocates memory with the driver, writes a word there and reads it back. */
enum t3_status remember(const struct t3_hal* hal, const struct t3_run* run);

#ifdef __cplusplus
}
#endif
