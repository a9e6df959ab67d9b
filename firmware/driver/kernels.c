#include <string.h>

#include "bools.h"
#include "completions.h"
#include "context_state.h"
#include "matrices.h"
#include "packets.h"
#include "registers.h"
#include "t3/arguments/gemm.h"
#include "t3/registers/kernel_queue.h"
#include "wait.h"

/* Also reads the other queues. All queues share one interrupt line, which a queue without a waiting call would keep
 * raised. */
static enum t3_status look_at_others(struct t3_context* context, uint32_t queue) {
  for (uint32_t other = 0; other < T3_QUEUES; ++other) {
    uint64_t completed = 0;
    if (other != queue && state_of(context)->queues[other].is_open)
      T3_TRY(t3_look_at_kernels(context, other, &completed));
  }
  return T3_OK;
}

enum t3_status t3_wait_completed_until(struct t3_context* context, uint32_t queue, uint64_t count, uint64_t deadline) {
  bool first_look = true;
  for (;;) {
    uint64_t completed = 0;
    T3_TRY(t3_look_at_kernels(context, queue, &completed));
    if (completed >= count) return T3_OK;
    T3_TRY(look_at_others(context, queue));
    /* The kernel of a context that was reset never ends. The time to look is the kernel's, which runs meanwhile. */
    if (first_look && t3_is_stale(context)) return T3_STALE;
    first_look = false;
    T3_TRY(t3_sleep(context, T3_LINE_KERNEL_QUEUE, deadline, "a kernel's end"));
  }
}

enum t3_status t3_wait_completed(struct t3_context* context, uint32_t queue, uint64_t count) {
  return t3_wait_completed_until(context, queue, count, t3_deadline(context));
}

/* A failure that the program has been notified of is also settled for handlers. The reverse does not hold. */
static void note_told(struct t3_context* context, const struct t3_kernel_wait* wait) {
  struct t3_state* state = state_of(context);
  struct t3_kernel_failure* failures = state->queues[wait->queue].failures;
  for (uint32_t i = state->running_priority == 0 ? 0 : 1; i < 2; ++i)
    if (failures[i].number <= wait->last) failures[i].code = T3_OK;
}

static struct t3_queue_state* used_queue(struct t3_context* context) {
  struct t3_state* state = state_of(context);
  return &state->queues[state->queue];
}

enum t3_status t3_wait_kernels_until(struct t3_context* context, uint64_t deadline_ns) {
  struct t3_state* state = state_of(context);
  const struct t3_queue_state* queue = used_queue(context);
  const struct t3_kernel_failure* known = &queue->failures[state->running_priority == 0 ? 0 : 1];
  struct t3_kernel_wait wait = {state->queue, queue->submitted, known->code, state->kernel_waits};
  state->kernel_waits = &wait;
  const enum t3_status status = t3_wait_completed_until(context, wait.queue, wait.last, deadline_ns);
  state->kernel_waits = wait.outer;
  T3_TRY(status);
  /* Packets that the program has announced itself come after all that the driver has queued. */
  if (known->code != T3_OK && known->number > queue->submitted) {
    if (wait.failure == T3_OK) wait.failure = known->code;
    wait.last = known->number;
  }
  note_told(context, &wait);
  return t3_outcome(context, wait.failure, "a kernel of the queue has failed");
}

enum t3_status t3_wait_kernels(struct t3_context* context) {
  return T3_LOCKED(context, t3_wait_kernels_until(context, t3_deadline(context)));
}

uint64_t t3_last_kernel(const struct t3_context* context) {
  const struct t3_state* state = const_state_of(context);
  if (!t3_is_open(context)) return 0;
  const struct t3_queue_state* queue = &state->queues[state->queue];
  return queue->submitted != queue->first_kernel ? queue->submitted : 0;
}

static const char a_kernel[] = "one of the queue's kernels since t3_init, of the latest 256";

enum t3_status t3_wait_for_kernel(struct t3_context* context, uint32_t queue, uint64_t number) {
  const struct t3_state* state = const_state_of(context);
  if (number <= state->queues[queue].first_kernel || number > state->queues[queue].submitted)
    return t3_at_fault(context, "number", a_kernel);
  T3_TRY(t3_wait_completed(context, queue, number));
  const enum t3_status code = t3_code_of_kernel(context, queue, number);
  if (code == T3_INVALID_ARGUMENT) return t3_at_fault(context, "number", a_kernel);
  return t3_outcome(context, code, "the kernel has failed");
}

enum t3_status t3_wait_kernel(struct t3_context* context, uint64_t number) {
  return T3_LOCKED(context, t3_wait_for_kernel(context, state_of(context)->queue, number));
}

static enum t3_status abort_kernels(struct t3_context* context) {
  struct t3_state* state = state_of(context);
  const uint32_t queue = state->queue;
  struct t3_registers r = t3_own_block(context, T3_BLOCK_KERNEL_QUEUE);
  t3_put32(&r, T3_OF_QUEUE(COMMAND, queue),
           T3_KERNEL_QUEUE_COMMAND_ACTION_ABORT << T3_KERNEL_QUEUE_COMMAND_ACTION_SHIFT);
  T3_TRY(r.status);
  const enum t3_status ended = t3_wait_completed(context, queue, state->queues[queue].submitted);
  /* The neighbours may be in a ring kernel that was refused here: they abort it, and their counters stop anywhere. */
  if (queue == state->ring_queue && (state->last_ring != 0 || state->ring_refused)) state->ring_broken = true;
  return ended;
}

enum t3_status t3_abort_kernels(struct t3_context* context) { return T3_LOCKED(context, abort_kernels(context)); }

enum t3_status t3_wait_for_room(struct t3_context* context) {
  const struct t3_queue_state* queue = used_queue(context);
  uint64_t awaited = 0;
  while (queue->submitted >= T3_QUEUE_ENTRIES && awaited != queue->submitted + 1 - T3_QUEUE_ENTRIES) {
    awaited = queue->submitted + 1 - T3_QUEUE_ENTRIES;
    T3_TRY(t3_wait_completed(context, state_of(context)->queue, awaited));
  }
  return T3_OK;
}

/* The packet must be in memory before the doorbell announces it. */
enum t3_status t3_announce(struct t3_context* context, const struct t3_submission* submission) {
  struct t3_state* state = state_of(context);
  const struct t3_hal* hal = state->hal;
  struct t3_queue_state* queue = used_queue(context);
  const uint64_t entry = queue->base + queue->submitted % T3_QUEUE_ENTRIES * T3_KERNEL_PACKET_ENTRY_BYTES;
  struct t3_kernel_packet packet = submission->packet;
  const bool waits = (packet.flags & T3_KERNEL_PACKET_FLAGS_WAIT) != 0;
  if (queue->releases && !waits) packet.flags |= T3_KERNEL_PACKET_FLAGS_RELEASE;
  if (packet.arguments == 0 && !waits) packet.arguments = entry + T3_KERNEL_PACKET_BYTES;
  unsigned char bytes[T3_KERNEL_PACKET_ENTRY_BYTES];
  t3_kernel_packet_to(&packet, bytes);
  memcpy(bytes + T3_KERNEL_PACKET_BYTES, submission->arguments, T3_ARGUMENT_ROOM);
  T3_TRY(hal->write_memory(hal->platform, entry, bytes, sizeof bytes));
  hal->order_writes(hal->platform);
  struct t3_registers r = t3_own_block(context, T3_BLOCK_KERNEL_QUEUE);
  t3_put64(&r, T3_OF_QUEUE(DOORBELL, state->queue), queue->submitted + 1);
  if (r.status == T3_OK) ++queue->submitted;
  return r.status;
}

enum t3_status t3_submit(struct t3_context* context, const struct t3_submission* submission) {
  T3_TRY(t3_wait_for_room(context));
  return t3_announce(context, submission);
}

enum t3_status t3_submit_to(struct t3_context* context, uint32_t queue, const struct t3_submission* submission) {
  struct t3_state* state = state_of(context);
  const uint32_t before = state->queue;
  state->queue = queue;
  const enum t3_status status = t3_submit(context, submission);
  state->queue = before;
  return status;
}

static enum t3_status run_kernel(struct t3_context* context, struct t3_submission* submission, const void* arguments) {
  const struct t3_hal* hal = state_of(context)->hal;
  const struct t3_kernel_packet* packet = &submission->packet;
  if (packet->arguments == 0)
    memcpy(submission->arguments, arguments, packet->argument_bytes);
  else
    T3_TRY(hal->write_memory(hal->platform, packet->arguments, arguments, packet->argument_bytes));
  return t3_submit(context, submission);
}

/* Returns whether the bytes are in the ring: a queued packet would overwrite them. */
static bool is_in_ring(const struct t3_context* context, uint64_t address, uint32_t bytes) {
  const struct t3_state* state = const_state_of(context);
  for (uint32_t queue = 0; queue < T3_QUEUES; ++queue) {
    const uint64_t begin = state->queues[queue].base;
    if (!state->queues[queue].is_open) continue;
    if (address < begin ? begin - address < bytes : address - begin < T3_RING_BYTES) return true;
  }
  return false;
}

enum { ARGUMENT_ALIGNMENT = 32 };

/* They are written before the packet is, so that the kernel queue would refuse them too late. */
static struct t3_fault fault_of_memory(const struct t3_context* context, uint64_t address, uint32_t bytes) {
  static const char name[] = "options.argument_memory";
  const struct t3_state* state = const_state_of(context);
  const uint64_t begin = t3_on_gpu(state->gpu, 0);
  if (address % ARGUMENT_ALIGNMENT != 0) return (struct t3_fault){T3_UNALIGNED, name, "a multiple of 32"};
  if (address < begin || address >= state->memory_end || bytes > state->memory_end - address)
    return (struct t3_fault){T3_BAD_ADDRESS, name, "memory of this GPU"};
  if (is_in_ring(context, address, bytes))
    return (struct t3_fault){T3_INVALID_ARGUMENT, name, "memory outside of the packet rings"};
  return (struct t3_fault){0};
}

enum t3_status t3_run_kernel(struct t3_context* context, const char* kernel, const void* arguments, uint32_t bytes,
                             struct t3_kernel_options options) {
  if (!t3_is_open(context)) return T3_INVALID_ARGUMENT;
  if (kernel == NULL) return T3_REFUSE(context, "kernel", "a kernel's name");
  if (arguments == NULL) return T3_REFUSE(context, "arguments", "the kernel's arguments");
  if (bytes == 0) return T3_REFUSE(context, "bytes", "1 or more");
  if (options.argument_memory == 0 && bytes > T3_ARGUMENT_ROOM)
    return T3_REFUSE_AS(context, T3_CAPACITY, "options.argument_memory", "memory for more than 96 bytes");
  if (options.argument_memory != 0) {
    const struct t3_fault fault = fault_of_memory(context, options.argument_memory, bytes);
    if (fault.status != T3_OK) return t3_refuse(context, __func__, fault);
  }
  struct t3_submission submission = t3_submission_of(kernel, bytes);
  submission.packet.arguments = options.argument_memory;
  submission.packet.workgroups = options.workgroups;
  submission.packet.max_compute_units = options.max_compute_units;
  return T3_LOCKED(context, run_kernel(context, &submission, arguments));
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

bool t3_fits(const struct t3_matrix* matrix, uint32_t rows, uint32_t columns, enum t3_element element) {
  return t3_is_operand(matrix) && matrix->rows == rows && matrix->columns == columns && matrix->element == element;
}

static uint32_t inner(const struct t3_matrix* a, const struct t3_gemm_options* options) {
  return options->transpose_a ? a->rows : a->columns;
}

static bool are_known(const struct t3_gemm_options* options) {
  return t3_is_bool(&options->update) && t3_is_bool(&options->transpose_a) && t3_is_bool(&options->transpose_b);
}

static bool is_a(const struct t3_matrix* a, const struct t3_matrix* out, const struct t3_gemm_options* options) {
  const uint32_t k = inner(a, options), m = out->rows;
  return options->transpose_a ? t3_fits(a, k, m, out->element) : t3_fits(a, m, k, out->element);
}

static bool is_b(const struct t3_matrix* b, const struct t3_matrix* out, uint32_t k,
                 const struct t3_gemm_options* options) {
  const uint32_t n = out->columns;
  return options->transpose_b ? t3_fits(b, n, k, out->element) : t3_fits(b, k, n, out->element);
}

bool t3_is_batch(const struct t3_batch* batch, uint32_t workgroups, uint32_t* all) {
  const uint64_t product = (uint64_t)workgroups * (batch->matrices == 0 ? 1 : batch->matrices);
  *all = (uint32_t)product;
  if (batch->matrices > UINT16_MAX || product == 0 || product > UINT32_MAX) return false;
  return batch->matrices != 0 || (batch->a_stride | batch->b_stride | batch->out_stride) == 0;
}

enum t3_status t3_gemm(struct t3_context* context, const struct t3_output* output, const struct t3_matrix* a,
                       const struct t3_matrix* b, struct t3_gemm_options options) {
  if (output == NULL || !t3_is_valid(output)) return T3_REFUSE(context, "output", T3_VALID_OUTPUT);
  if (!are_known(&options)) return T3_REFUSE(context, "options", "bools of 0 or 1");
  if (a == NULL || !is_a(a, &output->matrix, &options))
    return T3_REFUSE(context, "a", "a matrix with the rows (k: the columns) and element type of the output");
  if (b == NULL || !is_b(b, &output->matrix, inner(a, &options), &options))
    return T3_REFUSE(context, "b", "a matrix of k rows with the columns and element type of the output");
  const struct t3_matrix* out = &output->matrix;
  struct t3_submission submission = t3_submission_of("gemm", T3_GEMM_ARGUMENTS_BYTES);
  uint32_t workgroups = 0;
  if (!t3_is_batch(&options.batch, t3_workgroups(output), &workgroups))
    return T3_REFUSE(context, "options.batch", T3_VALID_BATCH);
  if (options.chunks > UINT16_MAX) return T3_REFUSE(context, "options.chunks", "0 to 65535");
  const uint64_t all = (uint64_t)workgroups * (options.split_k == 0 ? 1 : options.split_k);
  if (options.split_k > UINT16_MAX || all > UINT32_MAX)
    return T3_REFUSE(context, "options.split_k", "0 to 65535, fewer than 2^32 workgroups");
  if (options.persistent_workgroups > UINT16_MAX)
    return T3_REFUSE(context, "options.persistent_workgroups", "0 to 65535");
  const uint32_t most = options.persistent_workgroups;
  submission.packet.workgroups = most != 0 && most < all ? most : (uint32_t)all;
  if (options.group > UINT16_MAX) return T3_REFUSE(context, "options.group", "0 to 65535");
  if (options.step_ns > UINT16_MAX) return T3_REFUSE(context, "options.step_ns", "0 to 65535");
  if (options.stages > UINT8_MAX) return T3_REFUSE(context, "options.stages", "0 to 255");
  if (options.store_bytes > UINT8_MAX) return T3_REFUSE(context, "options.store_bytes", "0 to 32");
  submission.packet.max_compute_units = options.max_compute_units;
  const struct t3_gemm_arguments arguments = {.out = out->address,
                                              .a = a->address,
                                              .b = b->address,
                                              .m = out->rows,
                                              .n = out->columns,
                                              .k = inner(a, &options),
                                              .ldo = (uint32_t)out->row_stride,
                                              .lda = (uint32_t)a->row_stride,
                                              .ldb = (uint32_t)b->row_stride,
                                              .out_batch = options.batch.out_stride,
                                              .a_batch = options.batch.a_stride,
                                              .b_batch = options.batch.b_stride,
                                              .first_workgroup = options.first_workgroup % workgroups,
                                              .tile_rows = (uint16_t)output->tiling.rows,
                                              .tile_columns = (uint16_t)output->tiling.columns,
                                              .batches = (uint16_t)options.batch.matrices,
                                              .chunks = (uint16_t)options.chunks,
                                              .split_k = (uint16_t)options.split_k,
                                              .group = (uint16_t)options.group,
                                              .step_ns = (uint16_t)options.step_ns,
                                              .stages = (uint8_t)options.stages,
                                              .store_bytes = (uint8_t)options.store_bytes,
                                              .persistent_workgroups = (uint16_t)options.persistent_workgroups,
                                              .element = (uint8_t)out->element,
                                              .wavefronts = (uint8_t)output->tiling.wavefronts,
                                              .update = options.update,
                                              .uncached = out->memory == T3_UNCACHED,
                                              .transpose_a = options.transpose_a,
                                              .transpose_b = options.transpose_b,
                                              .group_columns = options.group_columns};
  t3_gemm_arguments_to(&arguments, submission.arguments);
  return T3_LOCKED(context, t3_submit(context, &submission));
}
