/* The run as a program sees it: the memory's arbitration, and the workload's arguments in bytes. A program reads the
 * latter by t3_<structure>_of (t3/workloads/<workload>.h). */
#ifndef T3_RUN_H
#define T3_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "t3/status.h"

#ifdef __cplusplus
extern "C" {
#endif

struct t3_hal;

struct t3_run {
  uint32_t arbitration;           /* enum t3_arbitration (t3/t3.h) */
  uint32_t arbitration_limit;     /* the policy's parameter */
  uint32_t ring_workgroups;       /* of ring kernels; 0: one per compute unit */
  const char* workload;           /* its name; NULL: there is none */
  const unsigned char* arguments; /* of the workload, little endian */
  uint32_t argument_bytes;
};

/* A program of a GPU's command processor. The run is valid until the program returns. */
typedef enum t3_status t3_program(const struct t3_hal* hal, const struct t3_run* run);

/* At least so many bytes. */
static inline bool t3_run_begins_with(const struct t3_run* run, const char* workload, uint32_t bytes) {
  return run->workload != NULL && strcmp(run->workload, workload) == 0 && run->argument_bytes >= bytes;
}

static inline bool t3_run_is_of(const struct t3_run* run, const char* workload, uint32_t bytes) {
  return t3_run_begins_with(run, workload, bytes) && run->argument_bytes == bytes;
}

#ifdef __cplusplus
}
#endif

#endif
