/* Steps of operations round a ring: GPU g sends to g - 1, to the previous member where rings are of one dimension of a
 * torus. There g and N are a place and the ring's length, a chunk is a member's: those of as many GPUs as the stride
 * is, and every second workgroup goes the other way round, with places counted backwards, so that both links of the
 * dimension carry half of all. */
#ifndef T3_KERNELS_RING_STEPS_H
#define T3_KERNELS_RING_STEPS_H

#include "kernels/collective/steps.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the number of steps: as many as the ring has GPUs. */
uint32_t t3_ring_steps(const struct t3_steps* steps);
/* The GPU that this one sends to. */
uint32_t t3_previous_gpu(const struct t3_steps* steps);
/* Returns step s of a ring: it waits for s signals, makes a transfer and signals the previous GPU. The last step only
 * waits. */
struct t3_step t3_step_of_ring(const struct t3_steps* steps, uint32_t step);
/* Returns the copy of the range that the member `distance` places further on owns. It goes to the same offset of the
 * previous GPU's buffer, or of this one's. */
struct t3_transfer t3_copy_of_range(const struct t3_steps* steps, uint32_t distance);

#ifdef __cplusplus
}
#endif

#endif
