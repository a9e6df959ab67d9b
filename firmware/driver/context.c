#include "context_state.h"

#include <string.h>

#include "completions.h"
#include "queues.h"
#include "registers.h"
#include "t3/registers/dma.h"
#include "t3/registers/interrupt_controller.h"
#include "t3/registers/kernel_queue.h"
#include "t3/registers/output_map.h"
#include "t3/registers/system.h"
#include "t3/registers/tracker.h"
#include "wait.h"

static enum t3_status read_identity(struct t3_context* context, uint64_t* memory_bytes) {
  struct t3_state* state = state_of(context);
  struct t3_registers r = t3_own_block(context, T3_BLOCK_SYSTEM);
  const uint32_t identity = t3_get32(&r, T3_SYSTEM_IDENTITY_OFFSET);
  const uint32_t gpu = t3_get32(&r, T3_SYSTEM_GPU_OFFSET);
  state->gpus = t3_get32(&r, T3_SYSTEM_GPUS_OFFSET);
  *memory_bytes = t3_get64(&r, T3_SYSTEM_MEMORY_BYTES_OFFSET);
  T3_TRY(r.status);
  const bool is_ours = identity == T3_IDENTITY && gpu == state->gpu && gpu < state->gpus;
  return is_ours ? T3_OK : T3_BAD_VALUE;
}

/* The ring of queue 0 is in the first page. The rest is the heap's until other queues are opened. */
static enum t3_status divide_memory(struct t3_context* context, uint64_t memory_bytes) {
  struct t3_state* state = state_of(context);
  if (memory_bytes < T3_FIRST_PAGE_BYTES) return T3_OUT_OF_MEMORY;
  const uint64_t begin = t3_on_gpu(state->gpu, 0);
  state->memory_bytes = memory_bytes;
  state->heap_begin = begin + T3_FIRST_PAGE_BYTES;
  state->heap_end = state->memory_end = begin + memory_bytes;
  state->rings_end = state->memory_end / T3_KERNEL_PACKET_ENTRY_BYTES * T3_KERNEL_PACKET_ENTRY_BYTES;
  return T3_OK;
}

/* Ends what an earlier context has had. */
static void declare_rings(struct t3_context* context) {
  const struct t3_state* state = state_of(context);
  const uint64_t begin = t3_on_gpu(state->gpu, 0), rings = (uint64_t)state->rings * T3_RING_BYTES;
  t3_declare_memory(state->hal, begin, 0, T3_MEMORY_FREE);
  t3_declare_memory(state->hal, begin, T3_RING_BYTES, T3_MEMORY_DRIVER);
  if (rings != 0) t3_declare_memory(state->hal, state->memory_end, rings, T3_MEMORY_DRIVER);
}

static enum t3_status start_kernel_queue(struct t3_context* context) {
  struct t3_state* state = state_of(context);
  T3_TRY(t3_start_queue(context, 0, t3_on_gpu(state->gpu, 0)));
  struct t3_registers r = t3_own_block(context, T3_BLOCK_KERNEL_QUEUE);
  const uint32_t compute_units = t3_get32(&r, T3_KERNEL_QUEUE_COMPUTE_UNITS_OFFSET);
  T3_TRY(r.status);
  if (compute_units == 0) return T3_INVALID_ARGUMENT;
  state->ring_workgroups = compute_units < T3_RING_WORKGROUPS_MAX ? compute_units : T3_RING_WORKGROUPS_MAX;
  return T3_OK;
}

static enum t3_status mask_interrupts(struct t3_context* context) {
  struct t3_registers r = t3_own_block(context, T3_BLOCK_INTERRUPT_CONTROLLER);
  t3_put32(&r, T3_INTERRUPT_CONTROLLER_ENABLE_OFFSET, 0);
  return r.status;
}

/* Continues with the state that the previous context has left when it was closed. */
static enum t3_status go_on(struct t3_context* context) {
  struct t3_state* state = state_of(context);
  struct t3_registers r = t3_own_block(context, T3_BLOCK_SYSTEM);
  state->barrier_rounds = t3_get64(&r, t3_scratch(T3_SCRATCH_BARRIER_ROUNDS));
  state->ring_epoch = t3_get64(&r, t3_scratch(T3_SCRATCH_RING_EPOCH));
  const uint64_t workgroups = t3_get64(&r, t3_scratch(T3_SCRATCH_RING_WORKGROUPS));
  if (state->ring_epoch != 0) state->ring_workgroups = (uint32_t)workgroups;
  state->ring_broken = (workgroups & T3_RING_BROKEN) != 0;
  state->rings = (uint32_t)(workgroups >> T3_RINGS_SHIFT);
  if (state->rings != 0)
    state->heap_end = state->memory_end = state->rings_end - (uint64_t)state->rings * T3_RING_BYTES;
  return r.status;
}

static enum t3_status take_over(struct t3_context* context) {
  struct t3_state* state = state_of(context);
  uint64_t memory_bytes = 0;
  T3_TRY(read_identity(context, &memory_bytes));
  struct t3_registers r = t3_own_block(context, T3_BLOCK_SYSTEM);
  const uint64_t owner = t3_get64(&r, t3_scratch(T3_SCRATCH_OWNER));
  T3_TRY(r.status);
  if (owner != T3_OWNER_NONE_SINCE_RESET && owner != T3_OWNER_CLOSED) return T3_BUSY;
  T3_TRY(divide_memory(context, memory_bytes));
  T3_TRY(mask_interrupts(context));
  state->hal->take_interrupts(state->hal->platform, NULL, NULL); /* from a context that a reset has ended */
  T3_TRY(start_kernel_queue(context));
  if (owner == T3_OWNER_CLOSED) T3_TRY(go_on(context));
  declare_rings(context);
  state->owner = state->hal->time_ns(state->hal->platform) << T3_OWNER_BITS | T3_OWNER_CONTEXT;
  t3_put64(&r, t3_scratch(T3_SCRATCH_OWNER), state->owner);
  return r.status;
}

static bool is_complete(const struct t3_hal* hal) {
  return hal != NULL && hal->read32 != NULL && hal->read64 != NULL && hal->write32 != NULL && hal->write64 != NULL &&
         hal->read_memory != NULL && hal->write_memory != NULL && hal->order_writes != NULL &&
         hal->take_interrupts != NULL && hal->lock != NULL && hal->unlock != NULL && hal->time_ns != NULL &&
         hal->wait_for_interrupt != NULL && hal->wait_ns != NULL && hal->exchange != NULL && hal->mark != NULL &&
         hal->publish != NULL && hal->has_argument != NULL && hal->argument_u64 != NULL &&
         hal->argument_double != NULL && hal->argument_bool != NULL && hal->argument_text != NULL && hal->log != NULL;
}

enum t3_status t3_init(struct t3_context* context, const struct t3_hal* hal) {
  if (context == NULL || !is_complete(hal)) return T3_INVALID_ARGUMENT;
  if (t3_is_open(context) && state_of(context)->calls != 0)
    return T3_BUSY; /* a handler's, in a wait that would go on with it */
  /* The caller's may be the one that has the GPU. */
  struct t3_context fresh = {0};
  *state_of(&fresh) = (struct t3_state){
      .magic = T3_CONTEXT_MAGIC, .itself = context, .hal = hal, .gpu = hal->gpu, .timeout_ns = T3_FOREVER};
  hal->lock(hal->platform);
  const enum t3_status status = take_over(&fresh);
  hal->unlock(hal->platform);
  if (status == T3_OK) memcpy(context, &fresh, sizeof fresh);
  return status;
}

/* Returns T3_BUSY while an operation is in flight or something is mapped. */
static enum t3_status is_at_rest(struct t3_context* context) {
  struct t3_state* state = state_of(context);
  bool runs = false;
  for (uint32_t queue = 0; queue < T3_QUEUES; ++queue) {
    uint64_t completed = 0;
    if (!state->queues[queue].is_open) continue;
    T3_TRY(t3_look_at_kernels(context, queue, &completed)); /* a ring kernel that was refused is not counted */
    runs = runs || completed < state->queues[queue].submitted;
  }
  struct t3_registers map = t3_own_block(context, T3_BLOCK_OUTPUT_MAP);
  struct t3_registers tracker = t3_own_block(context, T3_BLOCK_TRACKER);
  struct t3_registers dma = t3_own_block(context, T3_BLOCK_DMA);
  const bool maps = t3_get32(&map, T3_OUTPUT_MAP_USED_OFFSET) != 0 ||
                    t3_get32(&tracker, T3_TRACKER_CHUNKS_OFFSET) != 0 || t3_get32(&dma, T3_DMA_USED_OFFSET) != 0;
  const bool works = (t3_get32(&dma, T3_DMA_STATUS_OFFSET) & T3_DMA_STATUS_BUSY_MASK) != 0;
  T3_TRY(map.status);
  T3_TRY(tracker.status);
  T3_TRY(dma.status);
  const bool meets = state->barrier_told || state->barrier_round != 0;
  return runs || maps || works || meets || state->nic_queues != 0 ? T3_BUSY : T3_OK;
}

static enum t3_status give_back(struct t3_context* context) {
  struct t3_state* state = state_of(context);
  if (state->calls != 1 || state->running_priority != 0) return T3_BUSY;
  if (t3_is_stale(context)) return T3_STALE; /* what it would leave is not the next one's */
  T3_TRY(is_at_rest(context));
  T3_TRY(t3_close_queues(context));
  T3_TRY(mask_interrupts(context));
  state->hal->take_interrupts(state->hal->platform, NULL, NULL);
  struct t3_registers r = t3_own_block(context, T3_BLOCK_SYSTEM);
  t3_put64(&r, t3_scratch(T3_SCRATCH_BARRIER_ROUNDS), state->barrier_rounds);
  t3_put64(&r, t3_scratch(T3_SCRATCH_RING_EPOCH), state->ring_epoch);
  t3_put64(
      &r, t3_scratch(T3_SCRATCH_RING_WORKGROUPS),
      state->ring_workgroups | (state->ring_broken ? T3_RING_BROKEN : 0) | (uint64_t)state->rings << T3_RINGS_SHIFT);
  t3_put64(&r, t3_scratch(T3_SCRATCH_OWNER), T3_OWNER_CLOSED);
  return r.status;
}

enum t3_status t3_close(struct t3_context* context) {
  struct t3_state* state = state_of(context);
  if (!t3_enter(context)) return T3_INVALID_ARGUMENT;
  const struct t3_hal* hal = state->hal;
  const enum t3_status status = give_back(context);
  if (status != T3_OK) return t3_leave(context, status, __func__);
  state->magic = 0;
  hal->unlock(hal->platform);
  return T3_OK;
}

enum t3_status t3_reset(const struct t3_hal* hal) {
  if (!is_complete(hal)) return T3_INVALID_ARGUMENT;
  hal->lock(hal->platform);
  hal->take_interrupts(hal->platform, NULL, NULL);
  struct t3_registers r = t3_block_on(hal, hal->gpu, T3_BLOCK_SYSTEM);
  const uint32_t width_ns = t3_get32(&r, T3_SYSTEM_RESET_NS_OFFSET);
  t3_put32(&r, T3_SYSTEM_RESET_OFFSET, T3_SYSTEM_RESET_KEY_ALL);
  hal->wait_ns(hal->platform, width_ns);
  hal->unlock(hal->platform);
  return r.status;
}

static enum t3_status set_timeout(struct t3_context* context, uint64_t timeout_ns) {
  state_of(context)->timeout_ns = timeout_ns;
  return T3_OK;
}

enum t3_status t3_set_timeout(struct t3_context* context, uint64_t timeout_ns) {
  return T3_LOCKED(context, set_timeout(context, timeout_ns));
}
