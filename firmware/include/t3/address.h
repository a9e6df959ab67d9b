/* One physical address space per node: the GPU number in bits 63..44, then local memory or register blocks. */
#ifndef T3_ADDRESS_H
#define T3_ADDRESS_H

#include <stdint.h>

#include "t3/gpu.h"

#define T3_LOCAL_MASK ((UINT64_C(1) << T3_GPU_SHIFT) - 1)

static inline uint64_t t3_gpu_of(uint64_t address) { return address >> T3_GPU_SHIFT; }

/* The same local address on another GPU. */
static inline uint64_t t3_on_gpu(uint64_t gpu, uint64_t address) {
  return gpu << T3_GPU_SHIFT | (address & T3_LOCAL_MASK);
}

static inline uint64_t t3_block_base(uint64_t gpu, uint64_t block) {
  return t3_on_gpu(gpu, T3_REGISTERS_BASE + block * T3_BLOCK_BYTES);
}

#endif
