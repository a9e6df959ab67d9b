#include "queues.h"

#include "completions.h"
#include "context_state.h"
#include "end_of_memory.h"
#include "registers.h"
#include "t3/registers/kernel_queue.h"
#include "wait.h"

static const char open_queues[] = "0 or a queue of t3_queue_create";

enum { MASK_WORDS = T3_KERNEL_QUEUE_CU_MASK_COUNT / T3_QUEUES };

enum t3_status t3_start_queue(struct t3_context* context, uint32_t queue, uint64_t base) {
  struct t3_state* state = state_of(context);
  struct t3_registers r = t3_own_block(context, T3_BLOCK_KERNEL_QUEUE);
  t3_put64(&r, T3_OF_QUEUE(BASE, queue), base);
  t3_put32(&r, T3_OF_QUEUE(ENTRIES, queue), T3_QUEUE_ENTRIES);
  const uint64_t completed = t3_get64(&r, T3_OF_QUEUE(COMPLETED, queue));
  state->queues[queue] = (struct t3_queue_state){.is_open = true,
                                                 .base = base,
                                                 .submitted = completed,
                                                 .first_kernel = completed,
                                                 .told = completed,
                                                 .looked_at = completed};
  if (completed != 0) state->queues[queue].known_failures = t3_failures_in(t3_get32(&r, T3_OF_QUEUE(INTERRUPT, queue)));
  return r.status;
}

enum t3_status t3_put_queue_options(struct t3_context* context, uint32_t queue,
                                    const struct t3_queue_options* options) {
  struct t3_registers r = t3_own_block(context, T3_BLOCK_KERNEL_QUEUE);
  uint64_t any = 0;
  for (uint32_t word = 0; word < MASK_WORDS; ++word) any |= options->cu_mask[word];
  for (uint32_t word = 0; word < MASK_WORDS; ++word)
    t3_put64(&r, T3_KERNEL_QUEUE_CU_MASK_OFFSET + (queue * MASK_WORDS + word) * T3_KERNEL_QUEUE_CU_MASK_STRIDE,
             any == 0 ? UINT64_MAX : options->cu_mask[word]);
  t3_put32(&r, T3_OF_QUEUE(PRIORITY, queue), options->priority);
  return r.status;
}

/* Rings have fixed places, the last ones of memory: the hardware keeps one that has had packets until a reset. */
static enum t3_status make_room(struct t3_context* context, uint32_t queue, uint64_t base) {
  struct t3_state* state = state_of(context);
  if (queue <= state->rings) return T3_OK;
  uint64_t taken = 0;
  if (state->heap_end != state->memory_end) return T3_BUSY; /* the Tracker's table is there */
  T3_TRY(t3_take_end_of_memory(context, state->memory_end - base, &taken));
  state->memory_end = state->heap_end = base;
  state->rings = queue;
  return T3_OK;
}

static enum t3_status create(struct t3_context* context, const struct t3_queue_options* options, uint32_t* queue) {
  struct t3_state* state = state_of(context);
  uint32_t number = 1;
  while (number < T3_QUEUES && state->queues[number].is_open) ++number;
  if (number == T3_QUEUES) return t3_outcome(context, T3_TABLE_FULL, "all queues are open");
  const uint64_t base = state->rings_end - (uint64_t)number * T3_RING_BYTES;
  T3_TRY(make_room(context, number, base));
  T3_TRY(t3_put_queue_options(context, number, options));
  T3_TRY(t3_start_queue(context, number, base));
  *queue = number;
  return T3_OK;
}

enum t3_status t3_queue_create(struct t3_context* context, struct t3_queue_options options, uint32_t* queue) {
  if (queue == NULL) return T3_REFUSE(context, "queue", "a place for its number");
  return T3_LOCKED(context, create(context, &options, queue));
}

bool t3_is_queue(const struct t3_context* context, uint32_t queue) {
  return queue < T3_QUEUES && const_state_of(context)->queues[queue].is_open;
}

/* A handler is still to be called for kernels that have ended. */
static bool is_to_be_told(const struct t3_context* context, uint32_t queue) {
  const struct t3_state* state = const_state_of(context);
  return state->vectors[T3_LINE_KERNEL_QUEUE].handler != NULL &&
         state->queues[queue].told < state->queues[queue].submitted;
}

static enum t3_status destroy(struct t3_context* context, uint32_t queue) {
  struct t3_state* state = state_of(context);
  const struct t3_queue_options none = {0};
  uint64_t completed = 0;
  if (queue == 0 || !t3_is_queue(context, queue)) return t3_at_fault(context, "queue", "a queue of t3_queue_create");
  T3_TRY(t3_look_at_kernels(context, queue, &completed));
  if (completed < state->queues[queue].submitted || state->queue == queue || is_to_be_told(context, queue))
    return T3_BUSY;
  T3_TRY(t3_put_queue_options(context, queue, &none));
  state->queues[queue].is_open = false;
  return T3_OK;
}

enum t3_status t3_queue_destroy(struct t3_context* context, uint32_t queue) {
  return T3_LOCKED(context, destroy(context, queue));
}

static enum t3_status set_queue(struct t3_context* context, uint32_t queue, const struct t3_queue_options* options) {
  struct t3_state* state = state_of(context);
  if (!t3_is_queue(context, queue)) return t3_at_fault(context, "queue", open_queues);
  uint64_t completed = 0;
  T3_TRY(t3_look_at_kernels(context, queue, &completed));
  if (completed < state->queues[queue].submitted) return T3_BUSY;
  state->queues[queue].is_changed = true;
  return t3_put_queue_options(context, queue, options);
}

enum t3_status t3_set_queue(struct t3_context* context, uint32_t queue, struct t3_queue_options options) {
  return T3_LOCKED(context, set_queue(context, queue, &options));
}

static enum t3_status use_queue(struct t3_context* context, uint32_t queue) {
  if (!t3_is_queue(context, queue)) return t3_at_fault(context, "queue", open_queues);
  state_of(context)->queue = queue;
  return T3_OK;
}

enum t3_status t3_use_queue(struct t3_context* context, uint32_t queue) {
  return T3_LOCKED(context, use_queue(context, queue));
}

enum t3_status t3_close_queues(struct t3_context* context) {
  const struct t3_queue_options none = {0};
  return state_of(context)->queues[0].is_changed ? t3_put_queue_options(context, 0, &none) : T3_OK;
}
