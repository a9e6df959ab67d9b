/* One physical address space per node: the GPU number in bits 63..44, then local memory or register blocks. Mirrors
 * models/protocol/address_map.h; a test compares them. */
#ifndef T3_ADDRESS_H
#define T3_ADDRESS_H

#include <stdint.h>

#define T3_GPU_SHIFT 44
#define T3_LOCAL_MASK ((UINT64_C(1) << T3_GPU_SHIFT) - 1)
#define T3_REGISTERS_BASE (UINT64_C(0xF) << 40)
#define T3_BLOCK_BYTES UINT64_C(0x10000)

enum t3_block {
  T3_BLOCK_SYSTEM,
  T3_BLOCK_INTERRUPT_CONTROLLER,
  T3_BLOCK_ERROR_LOG,
  T3_BLOCK_SIGNALS,
  T3_BLOCK_KERNEL_QUEUE,
  T3_BLOCK_OUTPUT_MAP,
  T3_BLOCK_CACHE,
  T3_BLOCK_MEMORY_CONTROLLER,
  T3_BLOCK_NEAR_MEMORY,
  T3_BLOCK_TRACKER,
  T3_BLOCK_DMA,
  T3_BLOCK_LINKS,
  T3_BLOCK_COUNT
};

static inline uint64_t t3_gpu_of(uint64_t address) { return address >> T3_GPU_SHIFT; }

/* The same local address on another GPU. */
static inline uint64_t t3_on_gpu(uint64_t gpu, uint64_t address) {
  return gpu << T3_GPU_SHIFT | (address & T3_LOCAL_MASK);
}

static inline uint64_t t3_block_base(uint64_t gpu, uint64_t block) {
  return t3_on_gpu(gpu, T3_REGISTERS_BASE + block * T3_BLOCK_BYTES);
}

#endif
