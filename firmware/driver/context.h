/* How the driver uses what a GPU has a fixed number of. */
#ifndef T3_DRIVER_CONTEXT_H
#define T3_DRIVER_CONTEXT_H

/* "T3VP", what system.identity reads. */
#define T3_IDENTITY UINT32_C(0x54335650)

/* Kernel packets in the ring in memory, a power of two. */
#define T3_QUEUE_ENTRIES 16

/* The 512 signal counters: one for the barrier, then one per workgroup of each ring kernel. Reduce-scatter and
 * all-gather count apart, since a neighbour may start the second while this GPU is still in the first. */
#define T3_SIGNAL_BARRIER 0
#define T3_SIGNAL_REDUCE_SCATTER 16
#define T3_SIGNAL_ALL_GATHER 264
#define T3_RING_WORKGROUPS_MAX 248

#endif
