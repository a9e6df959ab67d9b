/* The version of the interface between the platform and what runs on it. */
#ifndef T3_API_VERSION_H
#define T3_API_VERSION_H

#include <stdint.h>

/* Raised when a name or a meaning in the headers changes. A library of programs and kernels says it in its table, and a
 * platform of another version refuses to load it (t3/exports.h). The functions of earlier versions that have other
 * names now are in t3/old_names.h. */
#define T3_API_VERSION UINT32_C(4)

#endif
