/* One physical address space per node: the GPU number in bits 63..44, then local memory or register blocks. */
#ifndef T3_ADDRESS_H
#define T3_ADDRESS_H

#include <stdint.h>

#include "t3/gpu.h"

#define T3_LOCAL_MASK ((UINT64_C(1) << T3_GPU_SHIFT) - 1)

/* Bytes of a memory's first page. A core is refused that of GPU 0, where a null pointer leads: the driver's heap begins
 * behind it. */
#define T3_FIRST_PAGE_BYTES UINT64_C(4096)

static inline uint64_t t3_gpu_of(uint64_t address) { return address >> T3_GPU_SHIFT; }

/* The last number that an address has room for: nodes are smaller, so that there is no such GPU. */
#define T3_NO_GPU (UINT64_MAX >> T3_GPU_SHIFT)

/* All GPUs that a switch joins which reduces (models/interconnect/switch.h), this one included: what is stored there
 * goes to each of them, and what is loaded is the sum of all in the access's element type. */
#define T3_ALL_GPUS (T3_NO_GPU - 1)

/* The counter of a GPU's signals block that barriers use: no kernel's. */
#define T3_SIGNAL_BARRIER 0

static inline uint64_t t3_at_most(uint64_t value, uint64_t most) { return value < most ? value : most; }

/* Returns the same local address on another GPU; T3_NO_GPU for GPU numbers beyond it. */
static inline uint64_t t3_on_gpu(uint64_t gpu, uint64_t address) {
  return t3_at_most(gpu, T3_NO_GPU) << T3_GPU_SHIFT | (address & T3_LOCAL_MASK);
}

/* Nothing is behind the last block, which stands for numbers beyond it. */
static inline uint64_t t3_block_base(uint64_t gpu, uint64_t block) {
  return t3_on_gpu(gpu, T3_REGISTERS_BASE + t3_at_most(block, T3_BLOCK_COUNT) * T3_BLOCK_BYTES);
}

#endif
