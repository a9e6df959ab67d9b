/* Maps of chunks, for the calls that are about one of them. */
#ifndef T3_DRIVER_MAPS_H
#define T3_DRIVER_MAPS_H

#include "registers.h"
#include "t3/chunk_progress.h"
#include "t3/nic_maps.h"
#include "t3/t3.h"

/* The action of a dma_map on a complete tile. */
struct t3_sending {
  enum t3_operation operation;
  uint64_t peer_output;
  const struct t3_nic_route* route; /* NULL: over the links */
  uint32_t signal;                  /* counter that the complete chunk adds to; 0: none */
  bool signals_ready;               /* it adds when it is complete here, and not when all peers have it */
};

/* It says in refusals what t3_is_chunk_signal accepts. */
#define T3_CHUNK_SIGNAL "T3_CHUNK_SIGNAL_FIRST or one of the T3_CHUNK_SIGNALS from there on"

static inline bool t3_is_chunk_signal(uint32_t signal) {
  return signal >= T3_CHUNK_SIGNAL_FIRST && signal - T3_CHUNK_SIGNAL_FIRST < T3_CHUNK_SIGNALS;
}

/* The output map, the Tracker and the DMA engine take output and chunk at the same offsets. */
void t3_stage_chunk(struct t3_registers* r, const struct t3_output* output, struct t3_chunk chunk);
/* Otherwise the fields of a register would run into each other. */
bool t3_can_be_staged(const struct t3_output* output);
enum t3_status t3_add_dma_map(struct t3_context* context, const struct t3_output* output, struct t3_chunk chunk,
                              struct t3_sending sending, struct t3_dma_options options);
/* Reports accesses that did not fit their maps. */
enum t3_status t3_counting_status(struct t3_registers* tracker);
/* Returns the error of the first tile that failed. */
enum t3_status t3_transfer_status(struct t3_registers* dma);

/* Waits until nothing is sent or filled: tiles that are complete in the Tracker are still being sent for a while. */
enum t3_status t3_wait_idle_dma(struct t3_context* context, struct t3_registers* dma, uint64_t deadline);

/* Reads whether what is awaited is complete: T3_BUSY when it is not. */
typedef enum t3_status t3_chunks_look(struct t3_registers* dma, const void* chunk);
/* Waits by interrupt until `look` returns something else than T3_BUSY, and returns that. */
enum t3_status t3_wait_chunks(struct t3_context* context, t3_chunks_look* look, const void* chunk,
                              uint64_t deadline_ns);

#endif
