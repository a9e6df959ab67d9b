/* The programs and kernels that the platform comes with, in a table as every library has one. */
#ifndef T3_PROGRAMS_BUILT_IN_H
#define T3_PROGRAMS_BUILT_IN_H

#include "t3/exports.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const struct t3_export_table t3_built_in;

#ifdef __cplusplus
}
#endif

#endif
