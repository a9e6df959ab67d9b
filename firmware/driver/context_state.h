/* How the driver uses what a GPU has a fixed number of. */
#ifndef T3_DRIVER_CONTEXT_STATE_H
#define T3_DRIVER_CONTEXT_STATE_H

#include <stddef.h>

#include "t3/kernel_packet.h"
#include "t3/registers/system.h"
#include "t3/t3.h"

/* "T3VP", what system.identity reads. */
#define T3_IDENTITY UINT32_C(0x54335650)

/* Kernel packets in the ring in memory, a power of two. */
#define T3_QUEUE_ENTRIES 16
#define T3_RING_BYTES (T3_QUEUE_ENTRIES * T3_KERNEL_PACKET_ENTRY_BYTES)

/* The 512 signal counters: T3_SIGNAL_BARRIER, and one per workgroup of the ring kernels. All ring kernels share them,
 * since what a workgroup receives comes from one sender, kernel after kernel. */
#define T3_SIGNAL_RING 16

/* The scratch registers: who has the GPU, and what a closed context has left for the next, since signal counters only
 * grow. A reset clears all of it. */
enum t3_scratch { T3_SCRATCH_OWNER, T3_SCRATCH_BARRIER_ROUNDS, T3_SCRATCH_RING_EPOCH, T3_SCRATCH_RING_WORKGROUPS };
enum t3_owner { T3_OWNER_NONE_SINCE_RESET, T3_OWNER_CONTEXT, T3_OWNER_CLOSED };
#define T3_OWNER_BITS 2                    /* above them, when the context was opened: no two are at the same time */
#define T3_RING_BROKEN (UINT64_C(1) << 32) /* beside the ring workgroups */
#define T3_RINGS_SHIFT 33 /* above it, the rings of packets at the end of memory: they stay until a reset */

/* The register of the system block that has it. */
static inline uint32_t t3_scratch(enum t3_scratch index) {
  return T3_SYSTEM_SCRATCH_OFFSET + (uint32_t)index * T3_SYSTEM_SCRATCH_STRIDE;
}

/* "T3 open?": what an open context begins with. */
#define T3_CONTEXT_MAGIC UINT64_C(0x5433206F70656E3F)

/* Whether the context has been filled by t3_init, here and not where it was copied from, and not been closed. */
static inline bool t3_is_open(const struct t3_context* context) {
  return context != NULL && context->magic == T3_CONTEXT_MAGIC && context->itself == context;
}

/* Whether another context has the GPU, or none, since it was reset. False when that cannot be read. Once it is known,
 * the context writes nothing any more: every call is T3_STALE. */
bool t3_is_stale(struct t3_context* context);

#endif
