#include "handlers.h"

#include "completions.h"
#include "context_state.h"
#include "registers.h"
#include "t3/registers/cache.h"
#include "t3/registers/dma.h"
#include "t3/registers/endpoint.h"
#include "t3/registers/error_log.h"
#include "t3/registers/interrupt_controller.h"
#include "t3/registers/kernel_queue.h"
#include "t3/registers/nic.h"
#include "t3/registers/signals.h"
#include "t3/registers/tracker.h"

/* The cause of a line: bits of its block's interrupt register, and the field of another register that has the code. */
struct source {
  enum t3_block block;
  uint32_t interrupt, bits;
  uint32_t status, mask, shift;
};

static const struct source sources[T3_LINE_COUNT] = {
    [T3_LINE_KERNEL_QUEUE] = {.block = T3_BLOCK_KERNEL_QUEUE},
    [T3_LINE_DMA] = {T3_BLOCK_DMA, T3_DMA_INTERRUPT_OFFSET,
                     T3_DMA_INTERRUPT_COMPLETE_MASK | T3_DMA_INTERRUPT_FILLED_MASK, T3_DMA_STATUS_OFFSET,
                     T3_DMA_STATUS_TRANSFER_MASK, T3_DMA_STATUS_TRANSFER_SHIFT},
    [T3_LINE_SIGNALS] = {.block = T3_BLOCK_SIGNALS,
                         .interrupt = T3_SIGNALS_INTERRUPT_OFFSET,
                         .bits = T3_SIGNALS_INTERRUPT_CHANGED_MASK},
    [T3_LINE_ERROR_LOG] = {.block = T3_BLOCK_ERROR_LOG,
                           .status = T3_ERROR_LOG_CODE_OFFSET,
                           .mask = T3_ERROR_LOG_CODE_STATUS_MASK,
                           .shift = T3_ERROR_LOG_CODE_STATUS_SHIFT},
    [T3_LINE_TRACKER] = {T3_BLOCK_TRACKER, T3_TRACKER_INTERRUPT_OFFSET, T3_TRACKER_INTERRUPT_ERROR_MASK,
                         T3_TRACKER_STATUS_OFFSET, T3_TRACKER_STATUS_COUNTING_MASK, T3_TRACKER_STATUS_COUNTING_SHIFT},
    [T3_LINE_DMA_ERROR] = {T3_BLOCK_DMA, T3_DMA_INTERRUPT_OFFSET, T3_DMA_INTERRUPT_ERROR_MASK, T3_DMA_STATUS_OFFSET,
                           T3_DMA_STATUS_TRANSFER_MASK, T3_DMA_STATUS_TRANSFER_SHIFT},
    [T3_LINE_CACHE] = {T3_BLOCK_CACHE, T3_CACHE_INTERRUPT_OFFSET, T3_CACHE_INTERRUPT_FLUSHED_MASK,
                       T3_CACHE_STATUS_OFFSET, T3_CACHE_STATUS_CODE_MASK, T3_CACHE_STATUS_CODE_SHIFT},
    [T3_LINE_NIC] = {.block = T3_BLOCK_NIC,
                     .interrupt = T3_NIC_INTERRUPT_OFFSET,
                     .bits = T3_NIC_INTERRUPT_COMPLETION_MASK | T3_NIC_INTERRUPT_ERROR_MASK},
    [T3_LINE_ENDPOINT] = {T3_BLOCK_ENDPOINT, T3_ENDPOINT_INTERRUPT_OFFSET,
                          T3_ENDPOINT_INTERRUPT_ENDED_MASK | T3_ENDPOINT_INTERRUPT_ERROR_MASK,
                          T3_ENDPOINT_STATUS_OFFSET, T3_ENDPOINT_STATUS_TRANSFER_MASK,
                          T3_ENDPOINT_STATUS_TRANSFER_SHIFT}};

/* Only lines that are awaited or have a handler are enabled: another one that is raised and not ours to clear would
 * make every wait spin. */
enum t3_status t3_enable_only(struct t3_context* context, uint32_t lines) {
  struct t3_state* state = state_of(context);
  if (state->stale) return T3_STALE;
  if (state->enabled_lines == lines) return T3_OK;
  struct t3_registers r = t3_own_block(context, T3_BLOCK_INTERRUPT_CONTROLLER);
  t3_put32(&r, T3_INTERRUPT_CONTROLLER_ENABLE_OFFSET, lines);
  if (r.status == T3_OK) state->enabled_lines = lines;
  return r.status;
}

uint32_t t3_handled_lines(const struct t3_context* context) {
  const struct t3_state* state = const_state_of(context);
  uint32_t lines = 0;
  for (uint32_t line = 0; line < T3_LINE_COUNT && !state->stale; ++line)
    if (state->vectors[line].handler != NULL && state->vectors[line].priority > state->running_priority)
      lines |= UINT32_C(1) << line;
  return lines & ~state->masked_lines;
}

/* Interrupts are allowed meanwhile, but only lines of higher priority are enabled. The queue that the handler uses is
 * its own. One that has taken time may
 * have reset the GPU: what is left of the context then is to leave the GPU alone. */
static void call(struct t3_context* context, struct t3_interrupt interrupt) {
  struct t3_state* state = state_of(context);
  const struct t3_hal* hal = state->hal;
  const struct t3_vector vector = state->vectors[interrupt.line];
  const uint32_t before = state->running_priority, queue = state->queue;
  const char* const interrupted = state->call;
  state->running_priority = vector.priority;
  state->queue = interrupt.queue;
  state->call = NULL;
  (void)t3_enable_only(context, t3_handled_lines(context));
  hal->unlock(hal->platform);
  const uint64_t begin = hal->time_ns(hal->platform);
  vector.handler(context, &interrupt, vector.argument);
  hal->lock(hal->platform);
  state->running_priority = before;
  state->queue = queue;
  state->call = interrupted;
  if (hal->time_ns(hal->platform) != begin) (void)t3_is_stale(context);
}

void t3_note_fill(struct t3_context* context, uint32_t status) {
  struct t3_state* state = state_of(context);
  state->filling = false;
  state->fill_code = (enum t3_status)((status & T3_DMA_STATUS_CODE_MASK) >> T3_DMA_STATUS_CODE_SHIFT);
}

/* Clears the causes before it looks at the state: what happens behind that raises the line again. */
static enum t3_status notice(struct t3_context* context, enum t3_line line, enum t3_status* how) {
  const struct source* source = &sources[line];
  struct t3_registers r = t3_own_block(context, source->block);
  const uint32_t causes = source->bits == 0 ? 0 : t3_get32(&r, source->interrupt) & source->bits;
  if (causes != 0) t3_put32(&r, source->interrupt, causes);
  const uint32_t status = source->mask == 0 ? 0 : t3_get32(&r, source->status);
  uint32_t code = (status & source->mask) >> source->shift;
  if (line == T3_LINE_DMA && (causes & T3_DMA_INTERRUPT_FILLED_MASK) != 0) {
    t3_note_fill(context, t3_get32(&r, source->status));
    if (code == T3_OK) code = (uint32_t)state_of(context)->fill_code;
  }
  *how = (enum t3_status)code;
  return r.status;
}

/* Each kernel of a queue by itself: several may have ended since the line rose. */
static enum t3_status tell_kernels_of(struct t3_context* context, uint32_t queue) {
  struct t3_state* state = state_of(context);
  struct t3_queue_state* of_queue = &state->queues[queue];
  uint64_t completed = 0;
  T3_TRY(t3_look_at_kernels(context, queue, &completed));
  state->raised_lines &= ~(UINT32_C(1) << T3_LINE_KERNEL_QUEUE);
  while (of_queue->told < completed && (t3_handled_lines(context) & UINT32_C(1) << T3_LINE_KERNEL_QUEUE) != 0) {
    const uint64_t number = ++of_queue->told;
    call(context, (struct t3_interrupt){.line = T3_LINE_KERNEL_QUEUE,
                                        .code = t3_code_of_kernel(context, queue, number),
                                        .number = number,
                                        .queue = queue});
  }
  return T3_OK;
}

static enum t3_status tell_kernels(struct t3_context* context) {
  for (uint32_t queue = 0; queue < T3_QUEUES; ++queue)
    if (state_of(context)->queues[queue].is_open) T3_TRY(tell_kernels_of(context, queue));
  return T3_OK;
}

/* Marks all kernels that have ended so far as reported, without a call to a handler. */
static enum t3_status forget_kernels(struct t3_context* context) {
  struct t3_state* state = state_of(context);
  for (uint32_t queue = 0; queue < T3_QUEUES; ++queue)
    if (state->queues[queue].is_open) T3_TRY(t3_look_at_kernels(context, queue, &state->queues[queue].told));
  return T3_OK;
}

static enum t3_status tell(struct t3_context* context, enum t3_line line) {
  enum t3_status code = T3_OK;
  if (line == T3_LINE_KERNEL_QUEUE) return tell_kernels(context);
  T3_TRY(notice(context, line, &code));
  call(context, (struct t3_interrupt){.line = line, .code = code});
  return T3_OK;
}

static uint32_t pending_lines(struct t3_context* context) {
  struct t3_registers r = t3_own_block(context, T3_BLOCK_INTERRUPT_CONTROLLER);
  return t3_get32(&r, T3_INTERRUPT_CONTROLLER_PENDING_OFFSET);
}

/* The lowest of those with the highest priority. */
static enum t3_line most_urgent(const struct t3_context* context, uint32_t lines) {
  const struct t3_state* state = const_state_of(context);
  uint32_t best = T3_LINE_COUNT;
  for (uint32_t line = 0; line < T3_LINE_COUNT; ++line)
    if ((lines >> line & 1) != 0 &&
        (best == T3_LINE_COUNT || state->vectors[line].priority > state->vectors[best].priority))
      best = line;
  return (enum t3_line)best;
}

void t3_serve(struct t3_context* context) {
  struct t3_state* state = state_of(context);
  for (;;) {
    const uint32_t raised = (pending_lines(context) | state->raised_lines) & t3_handled_lines(context);
    if (raised == 0) break;
    const enum t3_line line = most_urgent(context, raised);
    state->raised_lines &= ~(UINT32_C(1) << line);
    const enum t3_status status = tell(context, line);
    if (status == T3_OK) continue;
    /* A block that does not answer would keep its line up for ever: the handler hears of that once. */
    state->masked_lines |= UINT32_C(1) << line;
    call(context, (struct t3_interrupt){.line = line, .code = status});
  }
  (void)t3_enable_only(context, t3_handled_lines(context));
}

enum t3_status t3_forget_line(struct t3_context* context, enum t3_line line) {
  enum t3_status code = T3_OK;
  const enum t3_status status = line == T3_LINE_KERNEL_QUEUE ? forget_kernels(context) : notice(context, line, &code);
  state_of(context)->raised_lines &= ~(UINT32_C(1) << line);
  return status;
}
