/* Memory that parts of the driver allocate for themselves. */
#ifndef T3_DRIVER_ALLOCATIONS_H
#define T3_DRIVER_ALLOCATIONS_H

#include "context_state.h"

/* Allocates like t3_malloc, for the public call of this name. Only t3_free_of with the same owner frees the piece:
 * t3_free of it is T3_BUSY. */
enum t3_status t3_malloc_for(struct t3_context* context, const char* call, enum t3_allocation_owner owner,
                             uint64_t bytes, uint64_t* address);
/* Frees the owner's piece that begins at the address, for the public call of this name. T3_INVALID_ARGUMENT: none does.
 * T3_BUSY: the piece is another owner's, or holds the rings of a queue pair that has not been reset. */
enum t3_status t3_free_of(struct t3_context* context, const char* call, enum t3_allocation_owner owner,
                          uint64_t address);

static inline struct t3_allocation t3_allocation_of(uint64_t address, uint64_t bytes, enum t3_allocation_owner owner) {
  return (struct t3_allocation){.address = address, .bytes = bytes & (UINT64_MAX >> 8), .owner = owner & UINT8_MAX};
}

static inline bool t3_overlap(struct t3_allocation a, struct t3_allocation b) {
  return a.address < b.address + b.bytes && b.address < a.address + a.bytes;
}

#endif
