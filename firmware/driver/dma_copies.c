#include "t3/dma_copies.h"
#include "context_state.h"
#include "end_of_memory.h"
#include "maps.h"
#include "matrices.h"
#include "registers.h"
#include "t3/registers/dma.h"
#include "wait.h"

static enum t3_status count_queues(struct t3_context* context, uint32_t* queues) {
  struct t3_registers dma = t3_own_block(context, T3_BLOCK_DMA);
  *queues = t3_get32(&dma, T3_DMA_COPY_QUEUES_OFFSET);
  return dma.status;
}

enum t3_status t3_dma_copy_queues(struct t3_context* context, uint32_t* queues) {
  if (queues == NULL) return T3_REFUSE(context, "queues", "a place for their number");
  return T3_LOCKED(context, count_queues(context, queues));
}

/* The register's field for so many bytes; false for another number. */
static bool width_of(struct t3_dma_flag flag, uint32_t* width) {
  *width = 0;
  if (flag.address == 0) return true;
  while (*width < 3 && UINT32_C(1) << *width != flag.bytes) ++*width;
  return UINT32_C(1) << *width == flag.bytes;
}

/* Names the parameter that the engine has refused. */
static enum t3_status name_copy(struct t3_context* context, enum t3_status status, const struct t3_dma_copy* copy) {
  static const char places[] = "a multiple of 32";
  switch (status) {
    case T3_INVALID_ARGUMENT:
      return copy->bytes == 0 ? t3_at_fault(context, "copy->bytes", "1 or more")
                              : t3_at_fault(context, "queue", "one of t3_dma_copy_queues");
    case T3_UNALIGNED:
      if (copy->from % 32 != 0) return t3_at_fault_as(context, status, "copy->from", places);
      if (copy->to % 32 != 0) return t3_at_fault_as(context, status, "copy->to", places);
      return copy->bytes % 4 != 0 ? t3_at_fault_as(context, status, "copy->bytes", "a multiple of 4")
                                  : t3_at_fault_as(context, status, "copy->flag.address", "a multiple of its bytes");
    case T3_BAD_ADDRESS:
      return t3_is_own(context, copy->from, copy->bytes)
                 ? t3_at_fault_as(context, status, "copy->to", "bytes within the target's memory")
                 : t3_at_fault_as(context, status, "copy->from", "bytes within this GPU's memory");
    case T3_NO_PEER:
      return t3_at_fault_as(context, status, t3_is_own(context, copy->to, 0) ? "copy->flag.address" : "copy->to",
                            "an address of a GPU that can be reached");
    case T3_OVERLAP:
      return t3_at_fault_as(context, status, "copy->to", "bytes that are not copied from");
    default:
      return status;
  }
}

static enum t3_status queue_copy(struct t3_context* context, uint32_t queue, const struct t3_dma_copy* copy) {
  struct t3_registers dma = t3_own_block(context, T3_BLOCK_DMA);
  uint32_t width = 0;
  if (!width_of(copy->flag, &width)) return t3_at_fault(context, "copy->flag.bytes", "1, 2, 4 or 8");
  if (queue > T3_DMA_COPY_OPTIONS_QUEUE_MASK >> T3_DMA_COPY_OPTIONS_QUEUE_SHIFT)
    return t3_at_fault(context, "queue", "one of the engine's");
  t3_put64(&dma, T3_DMA_COPY_FROM_OFFSET, copy->from);
  t3_put64(&dma, T3_DMA_COPY_TO_OFFSET, copy->to);
  t3_put64(&dma, T3_DMA_COPY_BYTES_OFFSET, copy->bytes);
  t3_put64(&dma, T3_DMA_COPY_FLAG_OFFSET, copy->flag.address);
  if (copy->flag.address != 0) t3_put64(&dma, T3_DMA_COPY_FLAG_VALUE_OFFSET, copy->flag.value);
  t3_put32(&dma, T3_DMA_COPY_OPTIONS_OFFSET,
           queue << T3_DMA_COPY_OPTIONS_QUEUE_SHIFT | width << T3_DMA_COPY_OPTIONS_FLAG_WIDTH_SHIFT);
  const uint32_t command = T3_DMA_COMMAND_ACTION_COPY << T3_DMA_COMMAND_ACTION_SHIFT |
                           (uint32_t)copy->reads << T3_DMA_COMMAND_READS_SHIFT |
                           (uint32_t)copy->writes << T3_DMA_COMMAND_WRITES_SHIFT;
  return name_copy(context, t3_command(&dma, T3_DMA_COMMAND_OFFSET, command, T3_DMA_STATUS_OFFSET), copy);
}

enum t3_status t3_queue_dma_copy(struct t3_context* context, uint32_t queue, const struct t3_dma_copy* copy) {
  if (copy == NULL) return T3_REFUSE(context, "copy", "a copy");
  return T3_LOCKED(context, queue_copy(context, queue, copy));
}

/* The causes are cleared before the counts are read, so that no end is missed. */
static enum t3_status wait_copies(struct t3_context* context) {
  struct t3_registers dma = t3_own_block(context, T3_BLOCK_DMA);
  const uint64_t deadline = t3_deadline(context);
  for (;;) {
    t3_clear_dma(context, &dma);
    const uint64_t added = t3_get64(&dma, T3_DMA_COPIES_ADDED_OFFSET);
    const uint64_t ended = t3_get64(&dma, T3_DMA_COPIES_ENDED_OFFSET);
    if (dma.status != T3_OK) return dma.status;
    if (added == ended) return t3_transfer_status(&dma);
    T3_TRY(t3_sleep(context, T3_LINE_DMA, deadline, "the DMA engine's copies"));
  }
}

enum t3_status t3_wait_dma_copies(struct t3_context* context) { return T3_LOCKED(context, wait_copies(context)); }
