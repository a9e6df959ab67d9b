#include "context.h"

#include <stddef.h>

#include "registers.h"
#include "t3/kernel_packet.h"
#include "t3/registers/interrupt_controller.h"
#include "t3/registers/kernel_queue.h"
#include "t3/registers/system.h"

static enum t3_status read_identity(struct t3_context* context, uint64_t* memory_bytes) {
  struct t3_registers r = t3_own_block(context, T3_BLOCK_SYSTEM);
  const uint32_t identity = t3_get32(&r, T3_SYSTEM_IDENTITY_OFFSET);
  const uint32_t gpu = t3_get32(&r, T3_SYSTEM_GPU_OFFSET);
  context->gpus = t3_get32(&r, T3_SYSTEM_GPUS_OFFSET);
  *memory_bytes = t3_get64(&r, T3_SYSTEM_MEMORY_BYTES_OFFSET);
  T3_TRY(r.status);
  const bool is_ours = identity == T3_IDENTITY && gpu == context->gpu && gpu < context->gpus;
  return is_ours ? T3_OK : T3_BAD_VALUE;
}

static enum t3_status start_kernel_queue(struct t3_context* context) {
  T3_TRY(t3_malloc(context, T3_QUEUE_ENTRIES * sizeof(struct t3_kernel_packet), &context->queue_base));
  struct t3_registers r = t3_own_block(context, T3_BLOCK_KERNEL_QUEUE);
  t3_put64(&r, T3_KERNEL_QUEUE_BASE_OFFSET, context->queue_base);
  t3_put32(&r, T3_KERNEL_QUEUE_ENTRIES_OFFSET, T3_QUEUE_ENTRIES);
  context->submitted = t3_get64(&r, T3_KERNEL_QUEUE_COMPLETED_OFFSET);
  const uint32_t compute_units = t3_get32(&r, T3_KERNEL_QUEUE_COMPUTE_UNITS_OFFSET);
  T3_TRY(r.status);
  return t3_set_ring_workgroups(context,
                                compute_units < T3_RING_WORKGROUPS_MAX ? compute_units : T3_RING_WORKGROUPS_MAX);
}

static enum t3_status mask_interrupts(struct t3_context* context) {
  struct t3_registers r = t3_own_block(context, T3_BLOCK_INTERRUPT_CONTROLLER);
  t3_put32(&r, T3_INTERRUPT_CONTROLLER_ENABLE_OFFSET, 0);
  return r.status;
}

enum t3_status t3_init(struct t3_context* context, const struct t3_hal* hal) {
  if (context == NULL || hal == NULL) return T3_INVALID_ARGUMENT;
  *context = (struct t3_context){.hal = hal, .gpu = hal->gpu};
  uint64_t memory_bytes = 0;
  T3_TRY(read_identity(context, &memory_bytes));
  context->heap_next = t3_on_gpu(context->gpu, 0);
  context->heap_end = context->heap_next + memory_bytes;
  T3_TRY(mask_interrupts(context));
  return start_kernel_queue(context);
}

uint32_t t3_ring_previous(const struct t3_context* context) {
  return (context->gpu + context->gpus - 1) % context->gpus;
}
