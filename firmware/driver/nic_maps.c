/* Queue pairs that the DMA engine posts to. */
#include "t3/nic_maps.h"

#include "queue_pair_checks.h"
#include "registers.h"
#include "wait.h"

static uint32_t of_queue(uint32_t offset, uint32_t dma_queue) {
  return offset + dma_queue * T3_DMA_QUEUE_ENTRIES_STRIDE;
}

static const char an_engines_queue[] = "a queue of the DMA engine, below T3_DMA_QUEUES";

static enum t3_status may_be_lent(struct t3_context* context, const struct t3_nic_queue* queue) {
  uint32_t state = 0;
  T3_TRY(t3_check_created(context, queue));
  if (queue->is_lent || queue->posted != 0) return T3_BUSY;
  if (queue->is_kernels) return t3_at_fault_as(context, T3_ACCESS_DENIED, "queue", "a queue pair of the host");
  T3_TRY(t3_read_queue_state(context, queue, &state));
  return state == T3_NIC_STATE_NOW_READY_TO_SEND
             ? T3_OK
             : t3_at_fault_as(context, T3_ACCESS_DENIED, "queue", "a queue pair that is ready to send");
}

static enum t3_status lend(struct t3_context* context, uint32_t dma_queue, struct t3_nic_queue* queue) {
  if (dma_queue >= T3_DMA_QUEUES) return t3_at_fault(context, "dma_queue", an_engines_queue);
  T3_TRY(may_be_lent(context, queue));
  struct t3_registers dma = t3_own_block(context, T3_BLOCK_DMA);
  const uint32_t used = t3_get32(&dma, of_queue(T3_DMA_QUEUE_ENTRIES_OFFSET, dma_queue));
  T3_TRY(dma.status);
  if (used != 0) return T3_BUSY;
  t3_put64(&dma, of_queue(T3_DMA_QUEUE_SEND_BASE_OFFSET, dma_queue), t3_nic_send_of(queue));
  t3_put64(&dma, of_queue(T3_DMA_QUEUE_RECORD_OFFSET, dma_queue), t3_nic_record_of(queue));
  t3_put32(&dma, of_queue(T3_DMA_QUEUE_PAIR_OFFSET, dma_queue), queue->number << T3_DMA_QUEUE_PAIR_NUMBER_SHIFT);
  t3_put32(&dma, of_queue(T3_DMA_QUEUE_ENTRIES_OFFSET, dma_queue), queue->entries);
  T3_TRY(dma.status);
  queue->is_lent = true;
  return T3_OK;
}

enum t3_status t3_dma_lend(struct t3_context* context, uint32_t dma_queue, struct t3_nic_queue* queue) {
  return T3_LOCKED(context, lend(context, dma_queue, queue));
}

/* The engine refuses to give up a queue that a command sends by. What it has posted the queue pair has in it until it
 * is reset. */
static enum t3_status take_back(struct t3_context* context, uint32_t dma_queue, struct t3_nic_queue* queue) {
  if (dma_queue >= T3_DMA_QUEUES) return t3_at_fault(context, "dma_queue", an_engines_queue);
  T3_TRY(t3_check_created(context, queue));
  if (!queue->is_lent) return t3_at_fault(context, "queue", "a queue pair that is lent");
  struct t3_registers dma = t3_own_block(context, T3_BLOCK_DMA);
  const uint32_t pair = t3_get32(&dma, of_queue(T3_DMA_QUEUE_PAIR_OFFSET, dma_queue));
  const uint32_t posted = t3_get32(&dma, of_queue(T3_DMA_QUEUE_POSTED_OFFSET, dma_queue));
  T3_TRY(dma.status);
  if (pair >> T3_DMA_QUEUE_PAIR_NUMBER_SHIFT != queue->number)
    return t3_at_fault(context, "dma_queue", "the queue that the queue pair is lent as");
  t3_put32(&dma, of_queue(T3_DMA_QUEUE_ENTRIES_OFFSET, dma_queue), 0);
  if (dma.status == T3_BAD_VALUE) return T3_BUSY;
  T3_TRY(dma.status);
  queue->posted = queue->ended = posted;
  queue->is_lent = false;
  return T3_OK;
}

enum t3_status t3_dma_take_back(struct t3_context* context, uint32_t dma_queue, struct t3_nic_queue* queue) {
  return T3_LOCKED(context, take_back(context, dma_queue, queue));
}
