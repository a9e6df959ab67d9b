/* How the driver uses what a GPU has a fixed number of. */
#ifndef T3_DRIVER_CONTEXT_H
#define T3_DRIVER_CONTEXT_H

/* "T3VP", what system.identity reads. */
#define T3_IDENTITY UINT32_C(0x54335650)

/* Kernel packets in the ring in memory, a power of two. */
#define T3_QUEUE_ENTRIES 16

/* The 512 signal counters: one for the barrier, and one per workgroup of the ring kernels. All ring kernels share them,
 * since what a workgroup receives comes from one sender, kernel after kernel. */
#define T3_SIGNAL_BARRIER 0
#define T3_SIGNAL_RING 16

#endif
