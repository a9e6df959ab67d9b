/* The calls of a RISC-V core to the platform (host_call.structure.json), by the doorbell of the host services.
 * */
#ifndef T3_HAL_RISCV_HOST_H
#define T3_HAL_RISCV_HOST_H

#include "t3/gpu.h"
#include "t3/host_call.h"
#include "t3_riscv.h"

/* Rings for a call of this kind, whose other fields are filled; the answer is in it. */
void t3_host_ring(struct t3_host_call* call, uint32_t kind);

/* Makes a call with the most common members: a text and a number. Returns the result. */
uint64_t t3_host_tell(uint32_t kind, const char* text, uint64_t value);

/* Calls of lock() without an unlock(). */
uint32_t t3_riscv_locks(void);

/* Memory behind the heap: up to `bytes` of it are free until the next call. NULL when there is not so much. */
void* t3_riscv_scratch(uint64_t bytes);

#endif
