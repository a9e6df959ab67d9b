/* The interface of a library of programs and kernels to the platform: one table, t3_exports, and nothing else. The
 * platform calls the table's functions and passes tables of its own: the HAL (t3_hal.h) to programs, the wave
 * (t3/device.h) to kernels. The platform's own programs and kernels are in such a table too.
 *
 * Every GPU opens a copy of the library, so that static variables are a GPU's own. */
#ifndef T3_EXPORTS_H
#define T3_EXPORTS_H

#include "t3/api_version.h"
#include "t3/check.h"
#include "t3/device.h"
#include "t3/run.h"
#include "t3/t3.h"
#include "t3_hal.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this description. The first number is raised when a name or a meaning changes; the second follows the
 * structures. A library must be rebuilt for a platform that has other numbers. */
#define T3_EXPORTS_VERSION T3_API_VERSION
#define T3_EXPORTS_LAYOUT                                                                           \
  ((sizeof(struct t3_hal) +                                                                         \
    31 * (sizeof(struct t3_run) +                                                                   \
          31 * (sizeof(struct t3_kernel) +                                                          \
                31 * (sizeof(struct t3_call) +                                                      \
                      31 * (sizeof(struct t3_plan) +                                                \
                            31 * (sizeof(struct t3_wave) +                                          \
                                  31 * (sizeof(struct t3_check) +                                   \
                                        31 * (sizeof(struct t3_buffer) + sizeof(struct t3_launch) + \
                                              31 * sizeof(struct t3_device))))))))) &               \
   0xFFFFFFFF)

/* A program for a GPU's command processor. Names of programs and kernels have 1 to 64 letters, digits, ".", "-" and
 * "_". Each name is unique. */
struct t3_named_program {
  const char* name;
  t3_program* main;
};

struct t3_export_table {
  uint32_t version; /* T3_EXPORTS_VERSION */
  uint32_t layout;  /* T3_EXPORTS_LAYOUT */
  const char* name;
  const struct t3_named_program* programs; /* up to one without a name, at most 1024; NULL: none */
  const struct t3_kernel* const* kernels;  /* up to NULL, at most 1024; NULL: none */
};

/* A library defines it; its other symbols are hidden. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
extern const struct t3_export_table t3_exports;

#ifdef __cplusplus
}
#endif

#endif
