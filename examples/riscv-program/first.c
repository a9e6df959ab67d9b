#include <inttypes.h>
#include <stdio.h>

#include "t3/gpu.h"
#include "t3/registers/dma.h"
#include "t3/status.h"

static uint64_t number_of_gpu(void) {
  uint64_t gpu;
  __asm__("csrr %0, mhartid" : "=r"(gpu));
  return gpu;
}

static volatile uint32_t* dma_register(uint64_t gpu, uint32_t offset) {
  const uint64_t block = T3_REGISTERS_BASE + T3_BLOCK_DMA * T3_BLOCK_BYTES;
  return (volatile uint32_t*)(uintptr_t)((gpu << T3_GPU_SHIFT) + block + offset);
}

int main(void) {
  const uint64_t gpu = number_of_gpu();
  volatile uint32_t* const rows = dma_register(gpu, T3_DMA_ROWS_OFFSET);
  *rows = 64;
  printf("GPU %" PRIu64 " stages %" PRIu32 " rows\n", gpu, *rows);
  return *rows == 64 ? T3_OK : T3_MISMATCH;
}
