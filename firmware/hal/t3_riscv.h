/* The start-up calls of firmware on a RISC-V core that has a main() of its own. */
#ifndef T3_RISCV_H
#define T3_RISCV_H

#include "t3/run.h"
#include "t3_hal.h"

/* The HAL of this core. */
const struct t3_hal* t3_riscv_hal(void);

/* The values that the platform passes when the core starts. */
struct t3_riscv_start {
  const char* program;      /* of the image, which to run; NULL: the only one */
  const struct t3_run* run; /* what the program is given */
  uint64_t memory_end;      /* behind what firmware may use */
};
extern struct t3_riscv_start t3_riscv_start;

#endif
