/* Rings of all GPUs that use different links where each GPU has a link to each other one: what the program and the
 * platform share. */
#ifndef T3_WORKLOADS_RING_STRIDES_H
#define T3_WORKLOADS_RING_STRIDES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

static inline uint32_t t3_common_divisor(uint32_t a, uint32_t b) {
  while (b != 0) {
    const uint32_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/* How many rings there are: numbers below `gpus` without a divisor in common with it. */
static inline uint32_t t3_ring_count(uint32_t gpus) {
  uint32_t count = 0;
  for (uint32_t stride = 1; stride < gpus; ++stride)
    if (t3_common_divisor(gpus, stride) == 1) ++count;
  return count;
}

/* Ring 0 goes to the next GPU, ring 1 to the previous one, ring 2 to the next one but so many, and so on. `ring` is
 * below t3_ring_count. */
static inline uint32_t t3_ring_stride(uint32_t gpus, uint32_t ring) {
  uint32_t stride = 1;
  for (uint32_t left = ring / 2; left != 0; --left) {
    ++stride;
    while (t3_common_divisor(gpus, stride) != 1) ++stride;
  }
  return ring % 2 == 0 ? stride : gpus - stride;
}

/* The place of a GPU, from GPU 0 on in steps of the stride. */
static inline uint32_t t3_place_in_ring(uint32_t gpus, uint32_t stride, uint32_t gpu) {
  uint32_t place = 0;
  for (uint64_t at = 0; at != gpu; at = (at + stride) % gpus) ++place;
  return place;
}

#ifdef __cplusplus
}
#endif

#endif
