/* Declarations that the guests' sources share. */
#ifndef GUESTS_H
#define GUESTS_H

#include <stddef.h>

#include "t3/exports.h"

extern const struct t3_kernel doubling_kernel, awaiting_kernel, naming_kernel, posting_kernel, consuming_kernel,
    handing_kernel;

enum t3_status naming(const struct t3_hal* hal, const struct t3_run* run);
enum t3_status posting(const struct t3_hal* hal, const struct t3_run* run);
enum t3_status overlapping(const struct t3_hal* hal, const struct t3_run* run);
enum t3_status consuming(const struct t3_hal* hal, const struct t3_run* run);
enum t3_status handing(const struct t3_hal* hal, const struct t3_run* run);
enum t3_status counting(const struct t3_hal* hal, const struct t3_run* run);
enum t3_status copying(const struct t3_hal* hal, const struct t3_run* run);
enum t3_status streams_misused(const struct t3_hal* hal, const struct t3_run* run);
enum t3_status shared_units(const struct t3_hal* hal, const struct t3_run* run);

#endif
