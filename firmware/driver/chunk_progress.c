#include "t3/chunk_progress.h"

#include "context_state.h"
#include "maps.h"
#include "registers.h"
#include "t3/registers/dma.h"
#include "t3/registers/signals.h"
#include "wait.h"

static const char an_output[] = "a matrix of known kinds in tiles of 1 to 8 wavefronts";

uint64_t t3_chunk_signal_address(const struct t3_context* context, uint32_t signal) {
  if (!t3_is_open(context) || !t3_is_chunk_signal(signal)) return 0;
  return t3_block_base(const_state_of(context)->gpu, T3_BLOCK_SIGNALS) + T3_SIGNALS_VALUE_OFFSET +
         (uint64_t)T3_SIGNALS_VALUE_STRIDE * signal;
}

static enum t3_status signal_value(struct t3_context* context, uint32_t signal, uint64_t* value) {
  struct t3_registers r = t3_own_block(context, T3_BLOCK_SIGNALS);
  *value = t3_get64(&r, T3_SIGNALS_VALUE_OFFSET + T3_SIGNALS_VALUE_STRIDE * signal);
  return r.status;
}

enum t3_status t3_chunk_signal_value(struct t3_context* context, uint32_t signal, uint64_t* value) {
  if (!t3_is_chunk_signal(signal)) return T3_REFUSE(context, "signal", T3_CHUNK_SIGNAL);
  if (value == NULL) return T3_REFUSE(context, "value", "a place for it");
  return T3_LOCKED(context, signal_value(context, signal, value));
}

enum t3_status t3_dma_map_signal(struct t3_context* context, const struct t3_output* output, struct t3_chunk chunk,
                                 uint64_t peer_output, enum t3_operation operation, struct t3_dma_options options,
                                 uint32_t signal) {
  if (!t3_is_chunk_signal(signal)) return T3_REFUSE(context, "signal", T3_CHUNK_SIGNAL);
  const struct t3_sending sending = {.operation = operation, .peer_output = peer_output, .signal = signal};
  return T3_LOCKED(context, t3_add_dma_map(context, output, chunk, sending, options));
}

enum t3_status t3_dma_map_ready_signal(struct t3_context* context, const struct t3_output* output,
                                       struct t3_chunk chunk, uint64_t peer_output, enum t3_operation operation,
                                       struct t3_dma_options options, uint32_t signal) {
  if (!t3_is_chunk_signal(signal)) return T3_REFUSE(context, "signal", T3_CHUNK_SIGNAL);
  const struct t3_sending sending = {
      .operation = operation, .peer_output = peer_output, .signal = signal, .signals_ready = true};
  return T3_LOCKED(context, t3_add_dma_map(context, output, chunk, sending, options));
}

struct mapped {
  const struct t3_output* output;
  struct t3_chunk chunk;
};

static enum t3_status progress_of(struct t3_registers* dma, const struct mapped* mapped,
                                  struct t3_chunk_progress* progress) {
  t3_stage_chunk(dma, mapped->output, mapped->chunk);
  t3_put32(dma, T3_DMA_COMMAND_OFFSET, T3_DMA_COMMAND_ACTION_LOOK << T3_DMA_COMMAND_ACTION_SHIFT);
  progress->done = t3_get64(dma, T3_DMA_CHUNK_DONE_OFFSET);
  progress->tiles = t3_get64(dma, T3_DMA_CHUNK_TILES_OFFSET);
  T3_TRY(dma->status);
  if (progress->tiles == 0) return T3_INVALID_ARGUMENT;
  return progress->done == progress->tiles ? T3_OK : T3_BUSY;
}

static enum t3_status look_at_chunk(struct t3_registers* dma, const void* chunk) {
  struct t3_chunk_progress progress;
  const enum t3_status status = progress_of(dma, chunk, &progress);
  if (status != T3_OK && status != T3_BUSY) return status;
  const enum t3_status transfer = t3_transfer_status(dma);
  return status == T3_OK || transfer == T3_MISMATCH ? transfer : T3_BUSY; /* such a tile is never sent */
}

static enum t3_status chunk_status(struct t3_context* context, const struct mapped* mapped,
                                   struct t3_chunk_progress* progress) {
  struct t3_registers dma = t3_own_block(context, T3_BLOCK_DMA);
  struct t3_chunk_progress found;
  const enum t3_status status = progress_of(&dma, mapped, &found);
  if (status == T3_INVALID_ARGUMENT) return t3_at_fault(context, "chunk", "a chunk that is mapped");
  if (progress != NULL && (status == T3_OK || status == T3_BUSY)) *progress = found;
  return status;
}

enum t3_status t3_chunk_status(struct t3_context* context, const struct t3_output* output, struct t3_chunk chunk,
                               struct t3_chunk_progress* progress) {
  if (output == NULL || !t3_can_be_staged(output)) return T3_REFUSE(context, "output", an_output);
  const struct mapped mapped = {output, chunk};
  return T3_LOCKED(context, chunk_status(context, &mapped, progress));
}

enum t3_status t3_wait_chunk(struct t3_context* context, const struct t3_output* output, struct t3_chunk chunk,
                             uint64_t deadline_ns) {
  if (output == NULL || !t3_can_be_staged(output)) return T3_REFUSE(context, "output", an_output);
  const struct mapped mapped = {output, chunk};
  return T3_LOCKED(context, t3_wait_chunks(context, look_at_chunk, &mapped, deadline_ns));
}
