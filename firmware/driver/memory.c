#include <stddef.h>

#include "registers.h"
#include "t3/registers/dma.h"
#include "t3/t3.h"
#include "wait.h"

#define HEAP_ALIGNMENT 256u /* an interleave unit of the memory channels */
#define ROW_ALIGNMENT 32u   /* a DRAM access */

static uint64_t round_up(uint64_t value, uint64_t alignment) { return (value + alignment - 1) / alignment * alignment; }

static uint32_t element_bytes(enum t3_element element) { return element == T3_FP32 ? 4 : 2; }

enum t3_status t3_malloc(struct t3_context* context, uint64_t bytes, uint64_t* address) {
  if (context == NULL || address == NULL || bytes == 0) return T3_INVALID_ARGUMENT;
  const uint64_t start = round_up(context->heap_next, HEAP_ALIGNMENT);
  if (start > context->heap_end || bytes > context->heap_end - start) return T3_OUT_OF_MEMORY;
  context->heap_next = start + bytes;
  *address = start;
  return T3_OK;
}

enum t3_status t3_matrix_malloc(struct t3_context* context, struct t3_matrix* matrix) {
  if (matrix == NULL || matrix->rows == 0 || matrix->columns == 0) return T3_INVALID_ARGUMENT;
  matrix->row_stride = round_up((uint64_t)matrix->columns * element_bytes(matrix->element), ROW_ALIGNMENT);
  return t3_malloc(context, matrix->row_stride * matrix->rows, &matrix->address);
}

static enum t3_status start_fill(struct t3_registers* dma, uint64_t base, uint64_t bytes) {
  t3_put64(dma, T3_DMA_FILL_BASE_OFFSET, base);
  t3_put64(dma, T3_DMA_FILL_BYTES_OFFSET, bytes);
  t3_put32(dma, T3_DMA_INTERRUPT_OFFSET, T3_DMA_INTERRUPT_FILLED_MASK);
  return t3_command(dma, T3_DMA_COMMAND_OFFSET, T3_DMA_COMMAND_ACTION_FILL << T3_DMA_COMMAND_ACTION_SHIFT,
                    T3_DMA_STATUS_OFFSET);
}

enum t3_status t3_fill_zero(struct t3_context* context, const struct t3_matrix* matrix) {
  if (context == NULL || matrix == NULL) return T3_INVALID_ARGUMENT;
  struct t3_registers dma = t3_own_block(context, T3_BLOCK_DMA);
  T3_TRY(start_fill(&dma, matrix->address, matrix->row_stride * matrix->rows));
  for (;;) {
    const uint32_t interrupt = t3_get32(&dma, T3_DMA_INTERRUPT_OFFSET);
    T3_TRY(dma.status);
    if (interrupt & T3_DMA_INTERRUPT_FILLED_MASK) break;
    T3_TRY(t3_sleep(context, T3_LINE_DMA, "the DMA engine's fill"));
    /* A completed command of the table raises the same line; t3_wait_dma does not rely on its bit. */
    t3_put32(&dma, T3_DMA_INTERRUPT_OFFSET, T3_DMA_INTERRUPT_COMPLETE_MASK);
  }
  t3_put32(&dma, T3_DMA_INTERRUPT_OFFSET, T3_DMA_INTERRUPT_FILLED_MASK);
  const uint32_t status = t3_get32(&dma, T3_DMA_STATUS_OFFSET);
  T3_TRY(dma.status);
  return (enum t3_status)((status & T3_DMA_STATUS_CODE_MASK) >> T3_DMA_STATUS_CODE_SHIFT);
}
