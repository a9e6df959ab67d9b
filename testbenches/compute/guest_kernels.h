/* Kernels of a stranger, for the packets of a GEMM: what they do is theirs. */
#ifndef GUEST_KERNELS_H
#define GUEST_KERNELS_H

#include "t3/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A kernel whose every wave runs this. */
struct t3_kernel guest_kernel(void (*run)(struct t3_wave* wave),
                              struct t3_plan (*plan)(const struct t3_device* device, const struct t3_launch* launch));

/* Two waves of two workgroups. */
struct t3_plan guest_plan(const struct t3_device* device, const struct t3_launch* launch);

/* Every wave adds its number, the last one of the workgroup finds the sum in out. */
void guest_meets(struct t3_wave* wave);
/* Loads a, works on it, stores it to out. */
void guest_doubles(struct t3_wave* wave);
/* Loads a row of a, then half of it into the same tile in another shape, and stores all of that to out. */
void guest_loads_a_half(struct t3_wave* wave);
/* Counts on both GPUs four times, and stores what the last ones have found. */
void guest_counts(struct t3_wave* wave);
/* Stores a row to GPU 1, at once loads another one from there, stores again, signals, and stores what has come to out.
 */
void guest_loads_what_it_stored(struct t3_wave* wave);
/* The last wave of the second workgroup writes one byte too many into its local memory of five. */
void guest_overruns(struct t3_wave* wave);
/* Needs more than its stack. */
void guest_recurses(struct t3_wave* wave);

/* Mistakes: what a device refuses, one each, until the name is NULL. */
struct guest_mistake {
  void (*run)(struct t3_wave* wave);
  const char* text; /* part of what the error log says */
};
extern const struct guest_mistake guest_memory_mistakes[]; /* of loads, stores, counts, polls and signals */
extern const struct guest_mistake guest_work_mistakes[];   /* of tiles, products and work, and all else */

#ifdef __cplusplus
}
#endif

#endif
