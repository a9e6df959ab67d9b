#include "context.h"
#include "matrices.h"
#include "packet_bytes.h"
#include "packets.h"
#include "registers.h"
#include "t3/registers/kernel_queue.h"
#include "wait.h"

enum t3_status t3_code_of_kernel(const struct t3_context* context, uint64_t number) {
  struct t3_registers queue = t3_own_block(context, T3_BLOCK_KERNEL_QUEUE);
  const uint32_t index = (uint32_t)(number % T3_KERNEL_QUEUE_COMPLETION_COUNT);
  const uint32_t completion =
      t3_get32(&queue, T3_KERNEL_QUEUE_COMPLETION_OFFSET + index * T3_KERNEL_QUEUE_COMPLETION_STRIDE);
  T3_TRY(queue.status);
  const bool is_stale = (completion ^ (uint32_t)number << T3_KERNEL_QUEUE_COMPLETION_PACKET_SHIFT) &
                        T3_KERNEL_QUEUE_COMPLETION_PACKET_MASK;
  if (is_stale) return T3_INVALID_ARGUMENT;
  return (enum t3_status)((completion & T3_KERNEL_QUEUE_COMPLETION_CODE_MASK) >> T3_KERNEL_QUEUE_COMPLETION_CODE_SHIFT);
}

/* What the ring kernel under way has met, if it has ended. One that was refused has sent nothing and awaited nothing:
 * it counts as never queued. How far an aborted one and its neighbours have come is not known. */
static void note_ring(struct t3_context* context) {
  if (context->last_ring == 0) return;
  const enum t3_status code = t3_code_of_kernel(context, context->last_ring);
  if (code == T3_ABORTED) context->ring_broken = true;
  if (code != T3_BAD_PACKET) return;
  context->ring_epoch -= context->gpus - 1;
  context->ring_refused = true;
  context->last_ring = 0;
}

/* Keeps the first failure for t3_wait_kernels and lets the hardware look for the next one. */
static void take_failure(struct t3_context* context, struct t3_registers* queue) {
  const uint32_t status = t3_get32(queue, T3_KERNEL_QUEUE_STATUS_OFFSET);
  t3_put32(queue, T3_KERNEL_QUEUE_INTERRUPT_OFFSET, T3_KERNEL_QUEUE_INTERRUPT_ERROR_MASK);
  note_ring(context);
  if (context->kernel_failure != T3_OK) return;
  context->kernel_failure =
      (enum t3_status)((status & T3_KERNEL_QUEUE_STATUS_ERROR_MASK) >> T3_KERNEL_QUEUE_STATUS_ERROR_SHIFT);
}

enum t3_status t3_look_at_kernels(struct t3_context* context, uint64_t* completed) {
  struct t3_registers queue = t3_own_block(context, T3_BLOCK_KERNEL_QUEUE);
  t3_put32(&queue, T3_KERNEL_QUEUE_INTERRUPT_OFFSET, T3_KERNEL_QUEUE_INTERRUPT_COMPLETE_MASK);
  *completed = t3_get64(&queue, T3_KERNEL_QUEUE_COMPLETED_OFFSET);
  const uint32_t interrupt = t3_get32(&queue, T3_KERNEL_QUEUE_INTERRUPT_OFFSET);
  if (interrupt & T3_KERNEL_QUEUE_INTERRUPT_ERROR_MASK) take_failure(context, &queue);
  if (*completed >= context->last_ring) context->last_ring = 0;
  if (context->vectors[T3_LINE_KERNEL_QUEUE].handler != NULL && *completed > context->told_kernels)
    context->raised_lines |= UINT32_C(1) << T3_LINE_KERNEL_QUEUE;
  return queue.status;
}

/* Until `count` packets since reset have ended, however they did. */
static enum t3_status wait_completed(struct t3_context* context, uint64_t count) {
  const uint64_t deadline = t3_deadline(context);
  for (;;) {
    uint64_t completed = 0;
    T3_TRY(t3_look_at_kernels(context, &completed));
    if (completed >= count) return T3_OK;
    T3_TRY(t3_sleep(context, T3_LINE_KERNEL_QUEUE, deadline, "a kernel's end"));
  }
}

static enum t3_status wait_kernels(struct t3_context* context) {
  T3_TRY(wait_completed(context, context->submitted));
  const enum t3_status failure = context->kernel_failure;
  context->kernel_failure = T3_OK;
  return failure;
}

enum t3_status t3_wait_kernels(struct t3_context* context) { return T3_LOCKED(context, wait_kernels(context)); }

uint64_t t3_last_kernel(const struct t3_context* context) {
  return t3_is_open(context) && context->submitted != context->first_kernel ? context->submitted : 0;
}

static enum t3_status wait_kernel(struct t3_context* context, uint64_t number) {
  if (number <= context->first_kernel || number > context->submitted) return T3_INVALID_ARGUMENT;
  T3_TRY(wait_completed(context, number));
  return t3_code_of_kernel(context, number);
}

enum t3_status t3_wait_kernel(struct t3_context* context, uint64_t number) {
  return T3_LOCKED(context, wait_kernel(context, number));
}

static enum t3_status abort_kernels(struct t3_context* context) {
  struct t3_registers queue = t3_own_block(context, T3_BLOCK_KERNEL_QUEUE);
  t3_put32(&queue, T3_KERNEL_QUEUE_COMMAND_OFFSET,
           T3_KERNEL_QUEUE_COMMAND_ACTION_ABORT << T3_KERNEL_QUEUE_COMMAND_ACTION_SHIFT);
  T3_TRY(queue.status);
  const enum t3_status ended = wait_completed(context, context->submitted);
  /* The neighbours may be in a ring kernel that was refused here: they abort it, and their counters stop anywhere. */
  if (context->last_ring != 0 || context->ring_refused) context->ring_broken = true;
  return ended;
}

enum t3_status t3_abort_kernels(struct t3_context* context) { return T3_LOCKED(context, abort_kernels(context)); }

/* Until the ring has room for a packet more. A handler may take it while this waits. */
static enum t3_status wait_for_room(struct t3_context* context) {
  uint64_t awaited = 0;
  while (context->submitted >= T3_QUEUE_ENTRIES && awaited != context->submitted + 1 - T3_QUEUE_ENTRIES) {
    awaited = context->submitted + 1 - T3_QUEUE_ENTRIES;
    T3_TRY(wait_completed(context, awaited));
  }
  return T3_OK;
}

/* There is room in the ring. The packet has to be in memory before the doorbell tells of it. */
static enum t3_status announce(struct t3_context* context, const struct t3_kernel_packet* packet) {
  const struct t3_hal* hal = context->hal;
  unsigned char bytes[T3_PACKET_BYTES];
  t3_packet_bytes(packet, bytes);
  const uint64_t slot = context->queue_base + context->submitted % T3_QUEUE_ENTRIES * T3_PACKET_BYTES;
  T3_TRY(hal->write_memory(hal->platform, slot, bytes, sizeof bytes));
  hal->order_writes(hal->platform);
  struct t3_registers queue = t3_own_block(context, T3_BLOCK_KERNEL_QUEUE);
  t3_put64(&queue, T3_KERNEL_QUEUE_DOORBELL_OFFSET, context->submitted + 1);
  if (queue.status == T3_OK) ++context->submitted;
  return queue.status;
}

static enum t3_status submit(struct t3_context* context, const struct t3_kernel_packet* packet) {
  T3_TRY(wait_for_room(context));
  return announce(context, packet);
}

enum t3_status t3_submit(struct t3_context* context, const struct t3_kernel_packet* packet) {
  return T3_LOCKED(context, submit(context, packet));
}

static uint16_t memory_flags(const struct t3_output* output) {
  return output->matrix.memory == T3_UNCACHED ? T3_KERNEL_UNCACHED : 0;
}

struct t3_kernel_packet t3_packet_for(const struct t3_context* context, const struct t3_output* output) {
  return (struct t3_kernel_packet){.completion_signal = T3_KERNEL_NO_SIGNAL,
                                   .element = (uint8_t)output->matrix.element,
                                   .flags = memory_flags(output),
                                   .m = output->matrix.rows,
                                   .n = output->matrix.columns,
                                   .out = output->matrix.address,
                                   .ldo = (uint32_t)output->matrix.row_stride,
                                   .gpu = context->gpu,
                                   .gpus = context->gpus,
                                   .tile_rows = (uint16_t)output->tiling.rows,
                                   .tile_columns = (uint16_t)output->tiling.columns,
                                   .wavefronts = (uint8_t)output->tiling.wavefronts};
}

bool t3_is_operand(const struct t3_matrix* matrix) {
  return matrix->rows != 0 && matrix->columns != 0 && t3_has_known_kinds(matrix) && matrix->row_stride <= UINT32_MAX;
}

bool t3_is_valid(const struct t3_output* output) {
  const struct t3_tiling* tiling = &output->tiling;
  return t3_is_operand(&output->matrix) && tiling->rows != 0 && tiling->rows <= UINT16_MAX && tiling->columns != 0 &&
         tiling->columns <= UINT16_MAX && tiling->wavefronts != 0 && tiling->wavefronts <= 8 &&
         t3_workgroups(output) != 0;
}

static bool fits(const struct t3_matrix* matrix, uint32_t rows, uint32_t columns, enum t3_element element) {
  return t3_is_operand(matrix) && matrix->rows == rows && matrix->columns == columns && matrix->element == element;
}

static uint32_t inner(const struct t3_matrix* a, const struct t3_gemm_options* options) {
  return options->transpose_a ? a->rows : a->columns;
}

static bool multiplies(const struct t3_matrix* a, const struct t3_matrix* b, const struct t3_matrix* out,
                       const struct t3_gemm_options* options) {
  const uint32_t k = inner(a, options), m = out->rows, n = out->columns;
  const bool a_fits = options->transpose_a ? fits(a, k, m, out->element) : fits(a, m, k, out->element);
  return a_fits && (options->transpose_b ? fits(b, n, k, out->element) : fits(b, k, n, out->element));
}

static uint16_t gemm_flags(const struct t3_gemm_options* options) {
  const uint16_t update = options->update ? T3_KERNEL_UPDATE : 0;
  const uint16_t transpose_a = options->transpose_a ? T3_KERNEL_TRANSPOSE_A : 0;
  const uint16_t transpose_b = options->transpose_b ? T3_KERNEL_TRANSPOSE_B : 0;
  return (uint16_t)(update | transpose_a | transpose_b);
}

bool t3_set_batch(struct t3_kernel_packet* packet, const struct t3_batch* batch, uint32_t workgroups) {
  const uint64_t all = (uint64_t)workgroups * (batch->matrices == 0 ? 1 : batch->matrices);
  if (batch->matrices > UINT16_MAX || all == 0 || all > UINT32_MAX) return false;
  if (batch->matrices == 0 && (batch->a_stride | batch->b_stride | batch->out_stride) != 0) return false;
  packet->batches = (uint16_t)batch->matrices;
  packet->a_batch = batch->a_stride;
  packet->b_batch = batch->b_stride;
  packet->out_batch = batch->out_stride;
  packet->workgroups = (uint32_t)all;
  return true;
}

enum t3_status t3_gemm(struct t3_context* context, const struct t3_output* output, const struct t3_matrix* a,
                       const struct t3_matrix* b, struct t3_gemm_options options) {
  if (!t3_is_open(context) || output == NULL || a == NULL || b == NULL) return T3_INVALID_ARGUMENT;
  if (!t3_is_valid(output) || !multiplies(a, b, &output->matrix, &options)) return T3_INVALID_ARGUMENT;
  struct t3_kernel_packet packet = t3_packet_for(context, output);
  packet.kernel = t3_kernel_handle("gemm");
  packet.flags = (uint16_t)(packet.flags | gemm_flags(&options));
  packet.k = inner(a, &options);
  packet.a = a->address;
  packet.b = b->address;
  packet.lda = (uint32_t)a->row_stride;
  packet.ldb = (uint32_t)b->row_stride;
  if (!t3_set_batch(&packet, &options.batch, t3_workgroups(output))) return T3_INVALID_ARGUMENT;
  packet.first_workgroup = options.first_workgroup % packet.workgroups;
  packet.max_compute_units = options.max_compute_units;
  return t3_submit(context, &packet);
}

static enum t3_status set_ring_workgroups(struct t3_context* context, uint32_t workgroups) {
  if (workgroups == 0 || workgroups > T3_RING_WORKGROUPS_MAX) return T3_INVALID_ARGUMENT;
  /* The counters of all workgroups have one epoch, so none may have started before the others. */
  if (context->ring_epoch != 0) return T3_BUSY;
  context->ring_workgroups = workgroups;
  return T3_OK;
}

enum t3_status t3_set_ring_workgroups(struct t3_context* context, uint32_t workgroups) {
  return T3_LOCKED(context, set_ring_workgroups(context, workgroups));
}

/* Until the ring kernel before has ended, whose end says from what its successor counts, and there is room. A handler
 * may queue one while this waits. */
static enum t3_status wait_for_ring(struct t3_context* context) {
  do {
    while (context->last_ring != 0) T3_TRY(wait_completed(context, context->last_ring));
    T3_TRY(wait_for_room(context));
  } while (context->last_ring != 0);
  return context->ring_broken ? T3_ABORTED : T3_OK;
}

/* Every GPU receives gpus - 1 chunks in a ring kernel, one per step. */
static enum t3_status submit_ring(struct t3_context* context, const struct t3_output* output,
                                  struct t3_kernel_packet* packet) {
  if (context->ring_broken) return T3_ABORTED;
  T3_TRY(wait_for_ring(context));
  packet->workgroups = context->ring_workgroups;
  packet->peer_out = t3_peer_address(&output->matrix, t3_ring_previous(context));
  packet->signal_base = T3_SIGNAL_RING;
  packet->signal_epoch = context->ring_epoch;
  T3_TRY(announce(context, packet));
  context->ring_epoch += context->gpus - 1;
  context->ring_refused = false;
  context->last_ring = context->submitted;
  return T3_OK;
}

enum t3_status t3_ring_reduce_scatter(struct t3_context* context, const struct t3_output* output,
                                      const struct t3_matrix* staging) {
  if (!t3_is_open(context) || output == NULL || !t3_is_valid(output)) return T3_INVALID_ARGUMENT;
  if (context->gpus == 1) return T3_OK;
  struct t3_kernel_packet packet = t3_packet_for(context, output);
  packet.kernel = t3_kernel_handle("ring-reduce-scatter");
  if (staging == NULL) {
    /* What the cache holds of the output is not what neighbours update in memory. */
    if (output->matrix.memory != T3_UNCACHED) return T3_INVALID_ARGUMENT;
    packet.flags = (uint16_t)(packet.flags | T3_KERNEL_NEAR_MEMORY);
  } else {
    const struct t3_matrix* out = &output->matrix;
    if (!fits(staging, out->rows, out->columns, out->element) || staging->row_stride != out->row_stride)
      return T3_INVALID_ARGUMENT;
    packet.staging = staging->address;
    packet.peer_staging = t3_peer_address(staging, t3_ring_previous(context));
  }
  return T3_LOCKED(context, submit_ring(context, output, &packet));
}

enum t3_status t3_ring_all_gather(struct t3_context* context, const struct t3_output* output) {
  if (!t3_is_open(context) || output == NULL || !t3_is_valid(output)) return T3_INVALID_ARGUMENT;
  if (context->gpus == 1) return T3_OK;
  struct t3_kernel_packet packet = t3_packet_for(context, output);
  packet.kernel = t3_kernel_handle("ring-all-gather");
  return T3_LOCKED(context, submit_ring(context, output, &packet));
}
